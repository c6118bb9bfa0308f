"""From probabilities to the passages worth showing: repeats once, the rest in order of probability."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from builder.domain.context import Omission
from builder.domain.profile import Retrieval
from builder.domain.summary import Line
from builder.recall.index.prefix import Floats, Ints, Rows
from builder.recall.index.view import View
from builder.recall.search.eligible import eligible_breadcrumbs, eligible_passages
from builder.recall.search.probability import probabilities
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker, rank
from builder.recall.search.rare_words import lifted, literal_passages
from builder.recall.search.replies import named_replies, next_replies, results_of_turn

MIN_POOL_PASSAGES, MAX_POOL_PASSAGES = 64, 1024
"""Bounds of the passages that are looked at closely."""
POOL_FACTOR = 2.0
"""They are twice as many as have room, because repeats go and long ones may not fit."""
LABEL_TOKENS = 4
"""Tokens of the label in front of a passage."""
MAX_NAMED_PASSAGES = 100
"""Passages that are named when they are not probable enough; all others are counted."""
FINDS_WITH_REPLIES = 5
"""Best finds whose replies come along; replies of more cost recall."""
NEXT_SHARE = 0.5
"""Probability of what was said next to a question, as a share of the question's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A passage that was found."""

    row: int
    spans: tuple[tuple[int, int], ...] = ()
    """Its place in the breadcrumb's text; () = the whole text."""
    times: int = 1
    """How often the same speaker said it."""
    tokens: int = 0
    """Of its text."""
    probability: float = 0.0
    """That it answers the query; of a reply, at least a share of its question's."""
    reply_to: int = -1
    """Row of the find that it comes along with, as what was said in reply; -1 = it was found by itself."""
    is_literal: bool = False
    """It alone has a word of the query, or the query has a keyword of it: however improbable, it is found."""
    lines: tuple[tuple[int, Line], ...] = ()
    """Observations that are shown in its place, behind the rows of their summaries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What a query may find."""

    breadcrumbs: Rows
    """What may be shown, shape (size,)."""
    unseen: Rows
    """Passages that may be found and are not on the page, shape (passages,)."""
    scores: Floats
    probability: Floats
    """Shape (passages,)."""
    is_literal: Rows
    """Found by a rare word or a keyword, shape (passages,)."""


@dataclass(frozen=True, slots=True)
class NotRetrieved:
    """What may be found and was not."""

    nearest: tuple[int, ...]
    """Rows, the nearest first."""
    every: Ints
    """All such rows, in place order."""


NO_ROWS = NotRetrieved((), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalResult:
    """What was found for a query."""

    finds: tuple[Find, ...] = ()
    """The best first."""
    neighbours: tuple[Find, ...] = ()
    """What was said around the best."""
    omissions: tuple[Omission, ...] = ()
    """Repeats, and why they are not shown."""
    irrelevant: NotRetrieved = NO_ROWS
    """What is not probable enough."""
    crowded: NotRetrieved = NO_ROWS
    """What is probable enough, behind so much that it can have no room."""
    candidates: Candidates | None = None
    """What could be found, for receipts; None = nothing was searched."""


def retrieve(
    query: Query,
    view: View,
    rules: Retrieval,
    ranker: Ranker,
    page_rows: frozenset[int],
    room: int,
    question: int = -1,
    summaries: frozenset[int] = frozenset(),
) -> RetrievalResult:
    """The most probable passages that may be found and are not on the page, each thing once.

    page_rows: rows that the page shows; when it shows all, nothing is ranked. room: tokens. question: row whose words the query
    is, -1 = none in the view; no question answers itself. summaries: rows whose observations may be found.

    Ties go to the later passage.
    """
    candidates = _candidates(query, view, rules, ranker, page_rows, question, summaries)
    if candidates is None:
        return RetrievalResult()
    unseen, scores = candidates.unseen, candidates.scores
    relevant = unseen
    if rules.min_probability is not None:
        relevant = unseen & ((candidates.probability >= rules.min_probability) | candidates.is_literal)
    pool = best_of(scores, np.flatnonzero(relevant), _pool_size(view, room))
    distinct, omissions = _deduplicate(pool, view, page_rows)
    best = [_find(view, passage, times, candidates) for passage, times in distinct[: rules.max_results]]
    reason = f"beyond the {rules.max_results} most probable finds"
    rest = (view.crumb[passage] for passage, _ in (distinct[rules.max_results :] if rules.max_results is not None else ()))
    omissions += tuple(Omission(id=view.breadcrumb(int(row)).id, reason=reason) for row in rest)
    beyond_pool = relevant.copy()
    beyond_pool[pool] = False
    return RetrievalResult(
        finds=_with_replies(best, view, candidates, page_rows),
        neighbours=_neighbours(distinct, view, candidates, page_rows, rules.neighbours),
        omissions=omissions,
        irrelevant=_not_retrieved(unseen & ~relevant, view, scores),
        crowded=_not_retrieved(beyond_pool, view, scores),
        candidates=candidates,
    )


def _candidates(
    query: Query,
    view: View,
    rules: Retrieval,
    ranker: Ranker,
    page_rows: frozenset[int],
    question: int,
    summaries: frozenset[int],
) -> Candidates | None:
    """None when nothing unseen may be found. What the page shows competes for probability too."""
    breadcrumbs = eligible_breadcrumbs(query, view, rules, summaries)
    passages = eligible_passages(query, view, rules, breadcrumbs) & (view.crumb != question)
    on_page = np.zeros(view.size, np.bool_)
    on_page[[row for row in page_rows if row >= 0]] = True
    unseen = passages & ~on_page[view.crumb]
    if not unseen.any():
        return None
    weights = ranker.weights(query, view)
    # An observation has words of its message: these are still in one place.
    literal = literal_passages(query, view, unseen & ~np.isin(view.crumb, list(summaries)) if summaries else unseen)
    learned = rank(query, view, weights.passages)
    scores = lifted(query, view, learned, literal, unseen)
    probability = probabilities(query, view, learned, passages, weights.null) * np.exp(scores - learned)
    return Candidates(breadcrumbs=breadcrumbs, unseen=unseen, scores=scores, probability=probability, is_literal=literal > 0)


def _pool_size(view: View, room: int) -> int:
    tokens = float(view.history.passages.tokens.head(view.passages).mean()) + LABEL_TOKENS
    return min(max(MIN_POOL_PASSAGES, int(POOL_FACTOR * room / tokens)), MAX_POOL_PASSAGES)


def _not_retrieved(passages: Rows, view: View, scores: Floats) -> NotRetrieved:
    nearest = view.crumb[best_of(scores, np.flatnonzero(passages), MAX_NAMED_PASSAGES)]
    rows = np.zeros(view.size, np.bool_)
    rows[view.crumb[passages]] = True
    return NotRetrieved(tuple(dict.fromkeys(nearest.tolist())), np.flatnonzero(rows))


def best_of(scores: Floats, passages: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """The best of these passages, best first, ties to the later one; what cannot be among them is not sorted."""
    if len(passages) > number:
        threshold = np.partition(scores[passages], -number)[-number]
        passages = passages[scores[passages] >= threshold]
    return passages[np.lexsort((-passages, -scores[passages]))][:number]


def _deduplicate(pool: Ints, view: View, page_rows: frozenset[int]) -> tuple[list[tuple[int, int]], tuple[Omission, ...]]:
    """Each thing once: (passage, how often it was said), the newest of equal ones at the rank of the best."""
    groups: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for passage in pool.tolist():
        row = int(view.crumb[passage])
        groups.setdefault((view.repeats(row), passage - view.history.passages.first(row)), []).append(passage)
    distinct: list[tuple[int, int]] = []
    repeats: list[int] = []
    for (rows, _), passages in groups.items():
        newest = max(passages)
        repeats += [passage for passage in passages if passage != newest]
        if page_rows.intersection(rows):
            repeats.append(newest)
        else:
            distinct.append((newest, len(rows)))
    return distinct, tuple(Omission(id=view.breadcrumb(int(view.crumb[each])).id, reason="repeat") for each in repeats)


def _with_replies(best: list[Find], view: View, candidates: Candidates, page_rows: frozenset[int]) -> tuple[Find, ...]:
    """The finds and what replies to the best of them, the most probable first, a question in front of its reply.

    A response that names what it answers is as probable as that; so is a "yes", which nothing else could find. Of what was only
    said next, it is a share. One that the page shows elsewhere stays there.
    """
    on_page = page_rows | {find.row for find in best}
    finds = {(find.row, find.spans): find for find in best}
    for number, find in enumerate(best):
        for row, share in _replies(find, view):
            reply = _reply(row, view, candidates)
            if reply is None or (number >= FINDS_WITH_REPLIES and reply.tokens) or row in page_rows:
                continue
            earlier = finds.get((row, reply.spans))
            if earlier is None and _stands_elsewhere(row, view, on_page):
                continue
            probability = max(share * find.probability, reply.probability)
            finds[row, reply.spans] = replace(earlier or replace(reply, reply_to=find.row), probability=probability)
    return tuple(sorted(finds.values(), key=lambda find: -find.probability))


def _replies(find: Find, view: View) -> Iterator[tuple[int, float]]:
    """Rows of what replies to a find, each with the share of its probability."""
    responses = named_replies(find.row, view)
    for row in (find.row, *responses):
        yield from ((result, 1.0) for result in results_of_turn(row, view))
    if responses:
        yield from ((row, 1.0) for row in responses)
        return
    text = view.breadcrumb(find.row).text
    words = "".join(text[start:end] for start, end in find.spans) or text
    for row in next_replies(find.row, words, view):
        yield row, 1.0 if view.first_passage(row) is None else NEXT_SHARE


def _reply(row: int, view: View, candidates: Candidates) -> Find | None:
    """The first passage of a reply, the best one of a tool's, or all of a small one; None where it may not be shown."""
    first = view.first_passage(row)
    if first is not None:
        if view.breadcrumb(row).role == "tool":
            first += int(candidates.scores[first : view.history.passages.first(row + 1)].argmax())
        return _find(view, first, 1, candidates) if candidates.unseen[first] else None
    crumb = view.breadcrumb(row)
    return Find(row=row) if candidates.breadcrumbs[row] and not crumb.calls and crumb.text.strip() else None


def _neighbours(
    distinct: list[tuple[int, int]], view: View, candidates: Candidates, page_rows: frozenset[int], distance: int
) -> tuple[Find, ...]:
    """What may be shown around each of the best finds, the nearest first, nothing twice. distance: passages to each side."""
    sides = view.prefix.neighbours
    on_page = page_rows | {int(view.crumb[passage]) for passage, _ in distinct}
    neighbours: dict[int, None] = {}
    for passage, _ in distinct[:FINDS_WITH_REPLIES]:
        low = high = passage
        for _ in range(distance):
            low, high = (int(side[each]) if each >= 0 else -1 for side, each in ((sides.before, low), (sides.after, high)))
            for each in (low, high):
                if each >= 0 and candidates.unseen[each] and not _stands_elsewhere(int(view.crumb[each]), view, on_page):
                    neighbours[each] = None
                    on_page |= {int(view.crumb[each])}
    return tuple(_find(view, passage, 1, candidates) for passage in neighbours)


def _stands_elsewhere(row: int, view: View, on_page: frozenset[int]) -> bool:
    """Whether another row says the same there."""
    return any(other in on_page for other in view.repeats(row) if other != row)


def _find(view: View, passage: int, times: int, candidates: Candidates) -> Find:
    row = int(view.crumb[passage])
    passages = view.history.rows[row].passages
    place = passages[passage - view.history.passages.first(row)]
    spans = ((place.start, place.end),) if len(passages) > 1 else ()
    return Find(
        row=row,
        spans=spans,
        times=times,
        tokens=place.tokens,
        probability=float(candidates.probability[passage]),
        is_literal=bool(candidates.is_literal[passage]),
    )
