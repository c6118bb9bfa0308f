"""What is found should not change from turn to turn without a reason (features H4)."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from builder.domain.profile import Profile
from builder.pipeline.query import Query, make_query, strip_names
from builder.pipeline.rank import Ranker, rank
from builder.pipeline.retrieve import best_of, may_be_found
from builder.pipeline.view import Terms, View, as_of

Floats = NDArray[np.float32]

HELD = 8
"""Best passages of the trigger before that are held on to: as many as a page shows (5 of the user, 3 of the agent)."""


def steadied(scores: Floats, query: Query, view: View, profile: Profile, ranker: Ranker, terms: Terms) -> Floats:
    """The scores with a bonus for what the trigger before would have ranked best, by its own words and stored vector alone.

    A pure function of the stored history: that ranking has no bonus of its own, so every worker at every time gives the same.
    scores: of the query. They are kept for the next trigger, which then need not rank all of this one's history again.
    """
    share = profile.retrieval.hysteresis
    before = _trigger_before(view, profile) if share and view.passages else None
    steady = scores if before is None else _with_bonus(scores, share, _held(view, before, profile, ranker, terms))
    if share:
        view.history.ranked = view.size, query, ranker, scores
    return steady


def _with_bonus(scores: Floats, share: float, held: NDArray[np.int64]) -> Floats:
    if not len(held):
        return scores
    steady = scores.copy()
    steady[held] += np.float32(share) * (scores.max() - scores.mean())
    return steady


def _held(view: View, before: int, profile: Profile, ranker: Ranker, terms: Terms) -> NDArray[np.int64]:
    """The passages that this trigger would have ranked best, of those that may still be found."""
    crumb = view.history.rows[before].breadcrumb
    then = replace(as_of(view.history, crumb.place, crumb.session), session=view.session)
    text, named = strip_names(crumb.text, then.speakers)
    first = view.first_passage(before)
    query = make_query(text, named, terms(text), view.vector_of(first) if first is not None else b"")
    found = np.flatnonzero(may_be_found(query, view, frozenset(), profile.retrieval)[: then.passages])
    return best_of(_ranked(query, then, ranker), found, HELD)


def _ranked(query: Query, view: View, ranker: Ranker) -> Floats:
    """`rank`, or what is kept of it: a ranking depends on nothing but these three."""
    kept = view.history.ranked
    if kept is not None and kept[:3] == (view.size, query, ranker):
        return kept[3]
    return rank(query, view, ranker)


def _trigger_before(view: View, profile: Profile) -> int | None:
    """Row of the newest breadcrumb of the session that asked for a context of this consumer."""
    for number in range(view.heard - 1, -1, -1):
        row = view.own[number]
        crumb = view.history.rows[row].breadcrumb
        if crumb.version == 1 and crumb.schema in profile.triggers and view.current[row]:
            return row
    return None
