"""From probabilities to passages: those worth showing on a page, and those that answer a question asked by itself."""

from dataclasses import dataclass, replace

import numpy as np

from builder.domain.context import Omission
from builder.domain.retrieval import Retrieval
from builder.language.words import Terms
from builder.recall.index.breadcrumb_table import Floats, Ints, Rows
from builder.recall.index.view import View
from builder.recall.search.candidates import Candidates, Find, find_of
from builder.recall.search.companions import BEST_FINDS, stands_elsewhere, with_companions
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker
from builder.recall.search.scoring import best_of, scored

MIN_POOL_PASSAGES, MAX_POOL_PASSAGES = 64, 1024
"""Bounds of the passages that are looked at closely."""
POOL_FACTOR = 2.0
"""They are twice as many as have room, because repeats go and long ones may not fit."""
LABEL_TOKENS = 4
MIN_TERMS, PROBABLE = 4, 0.05
"""A passage of fewer terms that shares no word with the query is a find where it is so probable: "will do" is none."""


@dataclass(frozen=True, slots=True)
class NotRetrieved:
    """Candidates that were not found."""

    rows: Ints
    """In place order."""
    scores: Floats
    """The best passage of each, shape (rows,)."""


NO_ROWS = NotRetrieved(np.zeros(0, np.int64), np.zeros(0, np.float32))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalResult:
    """The finds of a query, and the rest."""

    finds: tuple[Find, ...] = ()
    """The best first."""
    neighbours: tuple[Find, ...] = ()
    omissions: tuple[Omission, ...] = ()
    """Repeats, and why they are not shown."""
    irrelevant: NotRetrieved = NO_ROWS
    """Improbable candidates."""
    crowded: NotRetrieved = NO_ROWS
    """Probable candidates that can have no room after all better ones."""
    candidates: Candidates | None = None
    """For receipts; None = nothing was searched."""


def retrieve(
    query: Query,
    view: View,
    rules: Retrieval,
    ranker: Ranker,
    page_rows: frozenset[int],
    room: int,
    terms: Terms,
    question: int = -1,
    summaries: frozenset[int] = frozenset(),
) -> RetrievalResult:
    """The most probable passages that are not on the page, each thing once. Ties go to the later passage.

    page_rows: rows that the page shows. room: tokens. question: row whose words the query is,
    -1 = none. summaries: rows whose observations may be found.
    """
    candidates = scored(query, view, rules, ranker, page_rows, question, summaries)
    if candidates is None:
        return RetrievalResult()
    relevant = _relevant(query, view, rules, candidates)
    tokens = float(view.history.passages.tokens[: view.passages].mean()) + LABEL_TOKENS
    pool_size = min(max(MIN_POOL_PASSAGES, int(POOL_FACTOR * room / tokens)), MAX_POOL_PASSAGES)
    pool = best_of(candidates.scores, np.flatnonzero(relevant), pool_size)
    distinct, omissions = _deduplicate(pool, view, page_rows)
    best = [find_of(view, passage, candidates, times) for passage, times in distinct[: rules.max_results]]
    reason = f"beyond the {rules.max_results} most probable finds"
    rest = [passage for passage, _ in distinct[len(best) :]]
    omissions += tuple(Omission(id=view.breadcrumb(row).id, reason=reason) for row in view.crumb[rest].tolist())
    beyond_pool = relevant.copy()
    beyond_pool[pool] = False
    return RetrievalResult(
        finds=with_companions(best, view, candidates, page_rows, query, terms, room),
        neighbours=_neighbours(distinct, view, candidates, page_rows, rules.neighbours),
        omissions=omissions,
        irrelevant=_not_retrieved(candidates.unseen & ~relevant, view, candidates.scores),
        crowded=_not_retrieved(beyond_pool, view, candidates.scores),
        candidates=candidates,
    )


def _relevant(query: Query, view: View, rules: Retrieval, candidates: Candidates) -> Rows:
    """Probable or literal candidates, shape (passages,)."""
    says = (view.prefix.length >= MIN_TERMS) | view.prefix.holding(query.words)
    says |= candidates.probability >= PROBABLE
    is_probable = says & (candidates.probability >= (rules.min_probability or 0.0))
    return candidates.unseen & (is_probable | candidates.is_literal)


def _not_retrieved(passages: Rows, view: View, scores: Floats) -> NotRetrieved:
    best = np.full(view.size, -np.inf, scores.dtype)
    np.maximum.at(best, view.crumb[passages], scores[passages])
    rows = np.flatnonzero(best > -np.inf)
    return NotRetrieved(rows, best[rows])


def _deduplicate(pool: Ints, view: View, page_rows: frozenset[int]) -> tuple[list[tuple[int, int]], tuple[Omission, ...]]:
    """Passages with how often each was said, and the others."""
    groups: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for passage in pool.tolist():
        row, number = view.place_of(passage)
        groups.setdefault((view.repeats(row), number), []).append(passage)
    distinct: list[tuple[int, int]] = []
    repeats: list[int] = []
    for (rows, _), passages in groups.items():
        *others, newest = sorted(passages)
        repeats += others
        if page_rows.intersection(rows):
            repeats.append(newest)
        else:
            distinct.append((newest, len(rows)))
    return distinct, tuple(Omission(id=view.breadcrumb(int(view.crumb[each])).id, reason="repeat") for each in repeats)


def _neighbours(
    distinct: list[tuple[int, int]], view: View, candidates: Candidates, page_rows: frozenset[int], distance: int
) -> tuple[Find, ...]:
    sides = view.prefix.neighbours
    on_page = page_rows | {int(view.crumb[passage]) for passage, _ in distinct[:BEST_FINDS]}
    neighbours: dict[int, int] = {}
    for passage, _ in distinct[:BEST_FINDS]:
        low = high = passage
        for _ in range(distance):
            low, high = (int(side[each]) if each >= 0 else -1 for side, each in ((sides.before, low), (sides.after, high)))
            for each in (low, high):
                if each >= 0 and candidates.unseen[each] and not stands_elsewhere(int(view.crumb[each]), view, on_page):
                    neighbours[each] = int(view.crumb[passage])
                    on_page |= {int(view.crumb[each])}
    return tuple(replace(find_of(view, passage, candidates), neighbour_of=row) for passage, row in neighbours.items())


def search(query: Query, view: View, rules: Retrieval, ranker: Ranker, limit: int) -> tuple[Find, ...]:
    """The passages that answer best, the best first, ties to the later one; small talk is none. No gate of a page counts.

    What one person said twice in the same words, in whichever sessions, is listed once. rules: schemas, people and scope count;
    what a page asks of a find does not.
    """
    candidates = scored(query, view, rules, ranker, bare_calls=True)
    if candidates is None:
        return ()
    unseen = np.flatnonzero(candidates.unseen)
    finds: dict[tuple[object, ...], Find] = {}
    for passage in best_of(candidates.scores, unseen, len(unseen)).tolist():
        if len(finds) == limit:
            break
        row, number = view.place_of(passage)
        crumb = view.breadcrumb(row)
        same = (view.history.rows[row].fingerprint, number, crumb.role, crumb.speaker, crumb.user_id)
        finds.setdefault(same, find_of(view, passage, candidates))
    return tuple(finds.values())
