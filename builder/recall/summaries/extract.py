"""The extractive summariser: the sentences that tell most in a number of tokens, by words and stored vectors, in any language.

Weighted coverage: an excerpt is worth the rare words that nothing chosen has said yet, more when it names, counts or concludes
something, less when its passage is near to a chosen one. What tools said is chosen only when nobody else says anything.
Nothing is embedded.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from builder.domain.summary import Line
from builder.recall.index.view import View
from builder.recall.summaries.excerpts import Excerpt, Words, again, excerpts, line_of

OVERHEAD = 4
"""Tokens that every line is charged on top: many tiny lines would read like a telegram."""


def extract(
    view: View, lines: Sequence[Line], rows: Sequence[int], cap: int, words: Words, kept: frozenset[int] = frozenset()
) -> tuple[Line, ...]:
    """The best of earlier lines and of what these rows say, in place order, at most `cap` tokens as the page shows them.

    Document frequencies are those of what stands before the end of the rows, so that later breadcrumbs change nothing. kept: rows
    that are kept word for word.
    """
    pool = [made for line in lines if (made := again(view, line, words))]
    for row in rows:
        pool += excerpts(view, row, words, kept)
    end = view.history.passages.first(max(rows) + 1) if rows else view.passages
    pool = [one for one in pool if not one.by_tool] or pool
    chosen = _choose(view, pool, cap, min(end, view.passages), words)
    ranked = ((one.order, replace(one.line, rank=rank)) for rank, one in enumerate(chosen))
    return tuple(line for _, line in sorted(ranked, key=lambda each: each[0]))


def verbatim(view: View, row: int) -> Line:
    """What this row says, word for word."""
    return replace(line_of(view, row, view.breadcrumb(row).text.strip()), verbatim=True)


def tokens_of(lines: Sequence[Line], count: Callable[[str], int]) -> int:
    """Tokens of the lines as the page shows them, the days above them included."""
    days = [line.day for number, line in enumerate(lines) if line.day and (not number or lines[number - 1].day != line.day)]
    return sum(count(f"{line.text}\n") for line in lines) + sum(count(f"[{day}]\n") for day in days)


def _choose(view: View, pool: list[Excerpt], cap: int, end: int, words: Words) -> list[Excerpt]:
    """Greedily the most worth a token, as long as anything has room. Ties go to the earlier one."""
    if not pool:
        return []
    terms = sorted(frozenset[str]().union(*(one.terms for one in pool)))
    column = {term: number for number, term in enumerate(terms)}
    says = [np.array(sorted(column[term] for term in one.terms), np.int64) for one in pool]
    conversation_rows, starts = (
        np.concatenate(says),
        np.cumsum([0, *map(len, says[:-1])]),
    )  # one excerpt's terms behind the other's
    untold = _weights(view, terms, end)
    days = sorted({one.line.day for one in pool})
    day = np.array([days.index(one.line.day) for one in pool], np.int64)
    price_of_day = np.array([words.count(f"[{name}]\n") if name else 0 for name in days])
    price, worth = np.array([one.cost for one in pool]), np.array([one.worth for one in pool])
    vectors, near = _vectors(view, pool), np.zeros(len(pool))
    sharing = _sharing(pool)
    left, room = np.ones(len(pool), np.bool_), cap
    chosen: list[Excerpt] = []
    while True:
        cost = price + price_of_day[day]
        value = np.add.reduceat(untold[conversation_rows], starts) * worth * (1 - near) / (cost + OVERHEAD)
        value[~left | (cost > room)] = 0
        best = int(value.argmax())
        if value[best] <= 0:
            return chosen
        chosen.append(pool[best])
        room -= int(cost[best])
        left[sharing[best]], price_of_day[day[best]] = False, 0
        untold[says[best]] = 0
        near = np.maximum(near, vectors @ vectors[best])


def _sharing(pool: list[Excerpt]) -> list[list[int]]:
    """For each excerpt the numbers of those that share a sentence with it, itself included."""
    held: dict[tuple[int, int], list[int]] = {}
    for number, one in enumerate(pool):
        for part in one.parts:
            held.setdefault(part, []).append(number)
    return [sorted({other for part in one.parts for other in held[part]}) for one in pool]


def _vectors(view: View, pool: list[Excerpt]) -> NDArray[np.float32]:
    """Of each excerpt's passage, shape (excerpts, width); zeros where there is none."""
    if view.prefix.vectors is None or not len(view.prefix.vectors):
        return np.zeros((len(pool), 1), np.float32)
    rows = np.array([one.passage for one in pool], np.int64)
    found = view.prefix.vectors[rows]
    found[rows < 0] = 0
    return found


def _weights(view: View, terms: list[str], end: int) -> NDArray[np.float64]:
    """Rarity of each term among the passages below `end`, shape (terms,)."""
    holding = (view.history.passages.postings.holding(term, end) for term in terms)
    return np.array([math.log(1 + end / max(rows, 1)) for rows in holding])
