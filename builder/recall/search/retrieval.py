"""From probabilities to the units worth showing: what may be found, repeats shown once, the rest in order of probability."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import NO_SESSION
from builder.domain.context import Omission
from builder.domain.profile import Retrieval
from builder.recall.index.view import View
from builder.recall.scopes import NOTES
from builder.recall.search.probability import probabilities
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker, rank
from builder.recall.search.replies import named_replies, next_replies
from builder.recall.search.signals import similarity

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Rows = NDArray[np.bool_]

SMALLEST_POOL, LARGEST_POOL, SPARE, LABEL_TOKENS = 64, 1024, 2.0, 4
"""Passages looked at closely: twice as many as have room, since repeats go and long ones may not fit."""


NEAREST = 100
"""Passages that are named when they were not near enough; of all others only the number is known."""
ANSWERED = 5
"""Best finds whose answers come along; blind neighbours of more cost recall."""
NEXT_SHARE = 0.5
"""Probability of what was said next to a question, as a share of the question's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A passage that was found. spans: of it in its breadcrumb's text; () = the whole text. said: how often it was said.

    tokens: of its text. probability: that it answers what is asked; of a reply, at least its question's share.
    """

    row: int
    spans: tuple[tuple[int, int], ...] = ()
    said: int = 1
    tokens: int = 0
    probability: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What a query may find. findable, scores, probability: one value a passage. visible: what may be shown, one a breadcrumb."""

    visible: Rows
    findable: Rows
    scores: Floats
    probability: Floats


@dataclass(frozen=True, slots=True)
class NotRetrieved:
    """What may be found and was not. nearest: rows, the nearest first. every: all such rows, in place order."""

    nearest: tuple[int, ...]
    every: Ints


NO_ROWS = NotRetrieved((), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalResult:
    """finds: the best first. neighbours: what was said around the best. omissions: the repeats and why they are not shown.

    irrelevant: what was not probable enough. crowded: what was, behind so much that it can have no room.
    """

    finds: tuple[Find, ...] = ()
    neighbours: tuple[Find, ...] = ()
    omissions: tuple[Omission, ...] = ()
    irrelevant: NotRetrieved = NO_ROWS
    crowded: NotRetrieved = NO_ROWS


def retrieve(query: Query, view: View, rules: Retrieval, ranker: Ranker, shown: frozenset[int], room: int) -> RetrievalResult:
    """The most probable passages that may be found and are not on the page, each thing once; nothing is ranked for none.

    shown: rows that the page shows. room: tokens for what is found. Ties go to the later passage.
    """
    visible = may_be_shown(query, view, rules)
    findable = may_be_found(query, view, rules, visible)
    unseen = findable & ~_of_rows(view, shown)
    if not unseen.any():
        return RetrievalResult()
    weights = ranker.weights(query, view)
    scores = rank(query, view, weights.passages)
    candidates = Candidates(
        visible=visible,
        findable=findable,
        scores=scores,
        probability=probabilities(query, view, scores, findable, weights.null),
    )
    relevant = unseen if rules.min_probability is None else unseen & (candidates.probability >= rules.min_probability)
    length = float(view.history.tokens.head(view.passages).mean()) + LABEL_TOKENS
    pool_size = min(max(SMALLEST_POOL, int(SPARE * room / length)), LARGEST_POOL)
    pool = best_of(candidates.scores, np.flatnonzero(relevant), pool_size)
    kept, omissions = _once(pool, view, shown)
    beside = _neighbours(kept, view, unseen, shown, rules.neighbours)
    best = [_find(view, passage, said, candidates.probability) for passage, said in kept[: rules.max_results]]
    return RetrievalResult(
        finds=_with_replies(best, view, candidates, unseen, shown),
        neighbours=tuple(_find(view, passage, 1, candidates.probability) for passage in beside),
        omissions=omissions,
        irrelevant=_unfound(unseen & ~relevant, view, candidates.scores),
        crowded=_unfound(_without(relevant, pool), view, candidates.scores),
    )


def _without(passages: Rows, pool: Ints) -> Rows:
    rest = passages.copy()
    rest[pool] = False
    return rest


def _of_rows(view: View, rows: frozenset[int]) -> Rows:
    """The passages of these rows, shape (passages,)."""
    mask = np.zeros(view.size, np.bool_)
    mask[[row for row in rows if row >= 0]] = True
    return np.asarray(mask[view.crumb])


def _unfound(among: NDArray[np.bool_], view: View, scores: Floats) -> NotRetrieved:
    nearest = view.crumb[best_of(scores, np.flatnonzero(among), NEAREST)]
    rows = np.zeros(view.size, np.bool_)
    rows[view.crumb[among]] = True
    return NotRetrieved(tuple(dict.fromkeys(nearest.tolist())), np.flatnonzero(rows))


def best_of(scores: Floats, among: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """The best passages, best first, ties to the later one; what cannot be among them is not sorted."""
    if len(among) > number:
        least = np.partition(scores[among], -number)[-number]
        among = among[scores[among] >= least]
    return among[np.lexsort((-among, -scores[among]))][:number]


def _with_replies(best: list[Find], view: View, candidates: Candidates, unseen: Rows, shown: frozenset[int]) -> tuple[Find, ...]:
    """The finds and what replies to the best of them, the most probable first, a question in front of its reply.

    A response that names what it answers is as probable as that; so is a "yes", which nothing else could find. Of what was only
    said next, it is a share. One that the page shows elsewhere stays there.
    """
    on_page = shown | {find.row for find in best}
    finds = {(find.row, find.spans): find for find in best}
    for number, find in enumerate(best):
        for row, share in _replies(find, view):
            reply = _reply(row, view, candidates, unseen)
            if reply is None or (number >= ANSWERED and reply.tokens) or row in shown:
                continue
            known = finds.get((row, reply.spans))
            if known is None and _stands_elsewhere(row, view, on_page):
                continue
            likely = max(share * find.probability, reply.probability)
            finds[row, reply.spans] = replace(known or reply, probability=likely)
    return tuple(sorted(finds.values(), key=lambda find: -find.probability))


def _replies(find: Find, view: View) -> Iterator[tuple[int, float]]:
    """Rows of what replies to a find, each with the share of its probability."""
    text = view.history.rows[find.row].breadcrumb.text
    if named := named_replies(find.row, view):
        yield from ((row, 1.0) for row in named)
        return
    words = "".join(text[start:end] for start, end in find.spans) or text
    for row in next_replies(find.row, words, view):
        yield row, 1.0 if view.first_passage(row) is None else NEXT_SHARE


def _reply(row: int, view: View, candidates: Candidates, unseen: Rows) -> Find | None:
    """The first passage of a reply, or all of a small one; None where it may not be shown."""
    first = view.first_passage(row)
    if first is not None:
        return _find(view, first, 1, candidates.probability) if unseen[first] else None
    crumb = view.history.rows[row].breadcrumb
    return Find(row=row) if candidates.visible[row] and not crumb.calls and crumb.text.strip() else None


def _neighbours(kept: list[tuple[int, int]], view: View, unseen: Rows, shown: frozenset[int], reach: int) -> tuple[int, ...]:
    """What may be shown around each of the best finds, the nearest first, nothing that is there already."""
    before, after = view.before, view.after
    on_page = shown | {int(view.crumb[passage]) for passage, _ in kept}
    found: list[int] = []
    for passage, _ in kept[:ANSWERED]:
        low = high = passage
        for _ in range(reach):
            low, high = (int(side[each]) if each >= 0 else -1 for side, each in ((before, low), (after, high)))
            for each in (low, high):
                if each >= 0 and unseen[each] and not _stands_elsewhere(int(view.crumb[each]), view, on_page):
                    found.append(each)
                    on_page |= {int(view.crumb[each])}
    return tuple(dict.fromkeys(found))


def _stands_elsewhere(row: int, view: View, on_page: frozenset[int]) -> bool:
    """Whether another row says the same there."""
    return any(other in on_page for other in view.repeats(row) if other != row)


def may_be_shown(query: Query, view: View, rules: Retrieval) -> Rows:
    """Which breadcrumbs, shape (size,): of the schemas, not replaced, of the people that are meant.

    Of no session only notes, unless all sessions are looked at: what else came in with them only ends one.
    """
    history = view.history
    codes = [history.schemas[name] for name in rules.schemas if name in history.schemas]
    rows = np.isin(history.schema.head(view.size), codes) & view.current
    if rules.people == "named":
        named = [history.speakers[name] for name in query.named if name in history.speakers]
        rows &= ~history.by_person.head(view.size).astype(np.bool_) | np.isin(history.speaker.head(view.size), named)
    if rules.scope != "workspace" and NO_SESSION in history.sessions:
        notes = [history.schemas[name] for name in NOTES if name in history.schemas]
        of_none = history.session.head(view.size) == history.sessions[NO_SESSION]
        rows &= ~of_none | np.isin(history.schema.head(view.size), notes) | (view.session == history.sessions[NO_SESSION])
    return np.asarray(rows)


def may_be_found(query: Query, view: View, rules: Retrieval, visible: Rows) -> Rows:
    """Which passages, shape (passages,): of what may be shown, with words, no small talk, as alike as the profile asks."""
    history = view.history
    rows = visible & ~history.filler.head(view.size).astype(np.bool_)
    found = np.asarray(rows[view.crumb] & (history.length.head(view.passages) > 0), np.bool_)
    if rules.similarity_threshold > 0 and query.vector:
        found &= ~view.has_vector | (similarity(query, view) >= rules.similarity_threshold)
    return found


def _once(pool: NDArray[np.int64], view: View, shown: frozenset[int]) -> tuple[list[tuple[int, int]], tuple[Omission, ...]]:
    """Each thing said once: (passage, how often it was said), the newest of equal ones at the place of the best."""
    groups: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for passage in pool.tolist():
        row = int(view.crumb[passage])
        groups.setdefault((view.repeats(row), passage - view.history.first_passage(row)), []).append(passage)
    kept: list[tuple[int, int]] = []
    omissions: list[Omission] = []
    for (repeats, _), passages in groups.items():
        newest = max(passages)
        omissions += [_repeat(view, int(view.crumb[other])) for other in passages if other != newest]
        if shown.intersection(repeats):
            omissions.append(_repeat(view, int(view.crumb[newest])))
        else:
            kept.append((newest, len(repeats)))
    return kept, tuple(omissions)


def _repeat(view: View, row: int) -> Omission:
    return Omission(id=view.history.rows[row].breadcrumb.id, reason="repeat")


def _find(view: View, passage: int, said: int, probability: Floats) -> Find:
    row = int(view.crumb[passage])
    remembered = view.history.rows[row]
    found = remembered.passages[passage - view.history.first_passage(row)]
    spans = ((found.start, found.end),) if len(remembered.passages) > 1 else ()
    return Find(row=row, spans=spans, said=said, tokens=found.tokens, probability=float(probability[passage]))
