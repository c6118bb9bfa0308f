"""From scores to the units worth showing: what may be found, repeats shown once, the rest in order of relevance."""

import re
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builder.domain.context import Omission
from builder.domain.profile import Retrieval
from builder.pipeline.query import Query
from builder.pipeline.signals import similarity
from builder.pipeline.view import View

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

SMALLEST_POOL, LARGEST_POOL, SPARE, LABEL_TOKENS = 64, 1024, 2.0, 4
"""Passages looked at closely: twice as many as have room, since repeats go and long ones may not fit."""


NEAREST = 100
"""Passages that are named when they were not near enough; of all others only the number is known."""
_QUESTION = re.compile("[?？؟]")
ANSWERED = 5
"""Best finds whose answers come along; blind neighbours of more cost recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A passage that was found. spans: of it in its breadcrumb's text; () = the whole text. said: how often it was said.

    tokens: of its text.
    """

    row: int
    spans: tuple[tuple[int, int], ...] = ()
    said: int = 1
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Irrelevant:
    """What may be found and was not near enough. nearest: rows, the nearest first. every: all such rows, in place order."""

    nearest: tuple[int, ...]
    every: Ints


NO_ROWS = Irrelevant((), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """finds: the best first. neighbours: what was said around the best. omissions: the repeats and why they are not shown.

    irrelevant: what was not near enough to the question.
    """

    finds: tuple[Find, ...] = ()
    neighbours: tuple[Find, ...] = ()
    omissions: tuple[Omission, ...] = ()
    irrelevant: Irrelevant = NO_ROWS


def retrieve(view: View, allowed: NDArray[np.bool_], shown: frozenset[int], rules: Retrieval, scores: Floats, room: int) -> Found:
    """The best of the allowed passages by their scores, one a passage of the view, each thing once.

    shown: rows that the page shows. room: tokens for what is found. Ties go to the later passage.
    """
    relevant = allowed.copy()
    if rules.relevance_threshold is not None:
        mean, best = scores.mean(), scores[allowed].max()
        relevant &= scores >= mean + rules.relevance_threshold * (best - mean)
    length = float(view.history.tokens.head(view.passages).mean()) + LABEL_TOKENS
    pool_size = min(max(SMALLEST_POOL, int(SPARE * room / length)), LARGEST_POOL)
    pool = best_of(scores, np.flatnonzero(relevant), pool_size)
    kept, omissions = _once(pool, view, shown)
    beside = _neighbours(kept, view, allowed, shown, rules.neighbours)
    return Found(
        finds=_with_answers(kept[: rules.max_results], view, allowed, shown, rules),
        neighbours=tuple(_find(view, passage, 1) for passage in beside),
        omissions=omissions,
        irrelevant=_irrelevant(allowed & ~relevant, view, scores),
    )


def _irrelevant(among: NDArray[np.bool_], view: View, scores: Floats) -> Irrelevant:
    nearest = view.crumb[best_of(scores, np.flatnonzero(among), NEAREST)]
    rows = np.zeros(view.size, np.bool_)
    rows[view.crumb[among]] = True
    return Irrelevant(tuple(dict.fromkeys(nearest.tolist())), np.flatnonzero(rows))


def best_of(scores: Floats, among: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """The best passages, best first, ties to the later one; what cannot be among them is not sorted."""
    if len(among) > number:
        least = np.partition(scores[among], -number)[-number]
        among = among[scores[among] >= least]
    return among[np.lexsort((-among, -scores[among]))][:number]


def _with_answers(
    kept: list[tuple[int, int]], view: View, fit: NDArray[np.bool_], shown: frozenset[int], rules: Retrieval
) -> tuple[Find, ...]:
    """Behind each of the best finds: the responses that name it, or, when it is a question, what the other one said next.

    An answer often shares no word with what is asked now; its question does. One that is told elsewhere on
    the page stays there; small talk is shown when it is the answer.
    """
    said_of = dict(kept)
    on_page = shown | {int(view.crumb[passage]) for passage in said_of}
    finds: dict[tuple[int, int | None], Find] = {}
    for number, (passage, said) in enumerate(kept):
        finds.setdefault((int(view.crumb[passage]), passage), _find(view, passage, said))
        for row in _replies(passage, view) if number < ANSWERED else ():
            first = view.first_passage(row)
            if first is None and row not in shown and _is_said(row, view, rules):
                finds.setdefault((row, None), Find(row=row))
            elif first is not None and fit[first] and (first in said_of or not _told(row, view, on_page)):
                finds.setdefault((row, first), _find(view, first, said_of.get(first, 1)))
    return tuple(finds.values())


def _is_said(row: int, view: View, rules: Retrieval) -> bool:
    """Small talk that may be shown: words of a kind that may be found, and no part of a tool exchange."""
    crumb = view.history.rows[row].breadcrumb
    return crumb.schema in rules.schemas and not crumb.calls and bool(crumb.text.strip())


def _replies(passage: int, view: View) -> tuple[int, ...]:
    """Rows of what this passage's breadcrumb led to; of a question that was asked again, the newest answers first."""
    row = int(view.crumb[passage])
    asked = view.history.rows[row].breadcrumb.id
    named = [other for other in view.history.answers.get(asked, ()) if other < view.size and view.current[other]]
    if named:
        return tuple(named[-ANSWERED:])
    if not _QUESTION.search(_text(view, passage)):
        return ()
    answers = (_next_said(other, view) for other in reversed(view.repeats(row)[-ANSWERED:]))
    return tuple(reply for reply in answers if reply is not None)


def _next_said(row: int, view: View) -> int | None:
    """What somebody else said next; small talk only when it is the whole answer."""
    history = view.history
    speaker, filler = history.speaker.head(view.size), history.filler.head(view.size)
    rows = history.rows_of[int(history.session.head(view.size)[row])]
    start, small_talk = bisect_right(rows, row), None
    for reply in rows[start : start + ANSWERED]:
        if reply >= view.size or (speaker[reply] == speaker[row] and not filler[reply]):
            break
        if speaker[reply] == speaker[row] or not view.current[reply]:
            continue
        if not filler[reply]:
            return reply
        small_talk = reply if small_talk is None else small_talk
    return small_talk


def _neighbours(
    kept: list[tuple[int, int]], view: View, fit: NDArray[np.bool_], shown: frozenset[int], reach: int
) -> tuple[int, ...]:
    """What may be shown around each of the best finds, the nearest first, nothing that is there already."""
    before, after = view.before, view.after
    on_page = shown | {int(view.crumb[passage]) for passage, _ in kept}
    found: list[int] = []
    for passage, _ in kept[:ANSWERED]:
        low = high = passage
        for _ in range(reach):
            low, high = (int(side[each]) if each >= 0 else -1 for side, each in ((before, low), (after, high)))
            for each in (low, high):
                if each >= 0 and fit[each] and not _told(int(view.crumb[each]), view, on_page):
                    found.append(each)
                    on_page |= {int(view.crumb[each])}
    return tuple(dict.fromkeys(found))


def _told(row: int, view: View, on_page: frozenset[int]) -> bool:
    """Whether another row says the same there."""
    return any(other in on_page for other in view.repeats(row) if other != row)


def may_be_found(query: Query, view: View, shown: frozenset[int], rules: Retrieval) -> NDArray[np.bool_]:
    """Which passages, shape (passages,): of the schemas, with words, not replaced, not `shown`, as alike as asked."""
    codes = [view.history.schemas[name] for name in rules.schemas if name in view.history.schemas]
    rows = np.isin(view.history.schema.head(view.size), codes)
    rows &= view.current & ~view.history.filler.head(view.size).astype(np.bool_)
    rows[[row for row in shown if row >= 0]] = False
    allowed = np.asarray(rows[view.crumb] & (view.history.length.head(view.passages) > 0), np.bool_)
    if rules.similarity_threshold > 0 and query.vector:
        allowed &= ~view.has_vector | (similarity(query, view) >= rules.similarity_threshold)
    return allowed


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


def _text(view: View, passage: int) -> str:
    row = view.history.rows[int(view.crumb[passage])]
    held = row.passages[passage - view.history.first_passage(int(view.crumb[passage]))]
    return row.breadcrumb.text[held.start : held.end]


def _repeat(view: View, row: int) -> Omission:
    return Omission(id=view.history.rows[row].breadcrumb.id, reason="repeat")


def _find(view: View, passage: int, said: int) -> Find:
    row = int(view.crumb[passage])
    remembered = view.history.rows[row]
    found = remembered.passages[passage - view.history.first_passage(row)]
    spans = ((found.start, found.end),) if len(remembered.passages) > 1 else ()
    return Find(row=row, spans=spans, said=said, tokens=found.tokens)
