"""What is found should not change from turn to turn without a reason (features H4)."""

import numpy as np
from numpy.typing import NDArray

from builder.domain.profile import Profile
from builder.pipeline.query import make_query, strip_names
from builder.pipeline.rank import Ranker, rank
from builder.pipeline.retrieve import best_of, may_be_found
from builder.pipeline.view import Terms, View, as_of

Floats = NDArray[np.float32]

HELD = 8
"""Best passages of the trigger before that are held on to: as many as a page shows (5 of the user, 3 of the agent)."""


def steadied(scores: Floats, view: View, profile: Profile, ranker: Ranker, terms: Terms) -> Floats:
    """The scores with a bonus for what the trigger before would have ranked best, by its own words and stored vector alone.

    A pure function of the stored history: that ranking has no bonus of its own, so every worker at every time gives the same.
    """
    share = profile.retrieval.hysteresis
    before = _trigger_before(view, profile) if share and view.passages else None
    if before is None:
        return scores
    crumb = view.history.rows[before].breadcrumb
    then = as_of(view.history, crumb.place, crumb.session)
    if not then.passages:
        return scores
    text, named = strip_names(crumb.text, then.speakers)
    first = view.first_passage(before)
    vector = view.vector_of(first) if first is not None else b""
    query = make_query(text, named, terms(text), vector)
    earlier = rank(query, then, ranker)
    then_found = np.flatnonzero(may_be_found(query, view, frozenset(), profile.retrieval)[: then.passages])
    held = best_of(earlier, then_found, HELD)
    steady = scores.copy()
    steady[held] += np.float32(share) * (scores.max() - scores.mean())
    return steady


def _trigger_before(view: View, profile: Profile) -> int | None:
    """Row of the newest breadcrumb of the session that asked for a context of this consumer."""
    for number in range(view.heard - 1, -1, -1):
        row = view.own[number]
        crumb = view.history.rows[row].breadcrumb
        if crumb.version == 1 and crumb.schema in profile.triggers and view.current[row]:
            return row
    return None
