"""How the extractive summariser chooses the lines of a summary."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from builder.domain.summary import KeptLine
from builder.extras.summaries.excerpts import Excerpt, excerpt_of, excerpts
from builder.language.word_lists import has_word, word_set
from builder.language.words import Terms, words_of
from builder.recall.index.breadcrumb_table import Doubles, Ints
from builder.recall.index.view import View
from builder.service import Functions

MIN_SHARED_TERMS = 2
"""Terms that two lines about the same thing share at least."""
MIN_SHARED_SHARE = 0.5
"""Share of the terms of the shorter line, where the later one says that something changed."""
MAX_OTHER_TERMS = 1
"""Terms that one line has more than the other, where nothing but numbers and days tells that something changed."""
LINE_TOKENS = 4
"""Tokens that every line is charged on top: many tiny lines would read like a telegram."""


def extract(
    view: View,
    lines: Sequence[KeptLine],
    rows: Sequence[int],
    cap: int,
    words: Functions,
    verbatim_rows: frozenset[int] = frozenset(),
) -> tuple[KeptLine, ...]:
    """The best of earlier lines and of what these rows say, in place order, at most `cap` tokens on the page.

    verbatim_rows: rows that stay word for word. Later breadcrumbs change nothing.
    """
    pool = [excerpt for line in lines if (excerpt := excerpt_of(view, line, words))]
    for row in rows:
        pool += excerpts(view, row, words, verbatim_rows)
    end = view.history.passages.first(max(rows) + 1) if rows else view.passages
    replaced = outdated(pool, words.terms)
    pool = [excerpt for number, excerpt in enumerate(pool) if number not in replaced]
    pool = [excerpt for excerpt in pool if not excerpt.by_tool] or pool
    best = _choose(view, pool, cap, min(end, view.passages), words)
    in_order = sorted(enumerate(best), key=lambda pair: pair[1].order)
    return tuple(replace(excerpt.line, rank=rank) for rank, excerpt in in_order)


@dataclass(frozen=True, slots=True)
class _Claim:
    """The subject of a line, and its values."""

    terms: frozenset[str]
    """Without numbers and days."""
    labels: frozenset[str]
    """Numbers after a word that means something: "crate 3", "batch 7". They tell things apart."""
    values: frozenset[str]
    """All other numbers, and days: "900 euros", "on Friday"."""
    changes: bool


def outdated(excerpts: Sequence[Excerpt], terms: Terms) -> frozenset[int]:
    """Numbers of the excerpts that a later one replaces."""
    claims = [_claim(excerpt, terms) for excerpt in excerpts]
    later = [number for number, claim in enumerate(claims) if claim.changes or claim.values]
    return frozenset(
        earlier
        for earlier, claim in enumerate(claims)
        if any(excerpts[earlier].order[0] < excerpts[other].order[0] and _replaces(claims[other], claim) for other in later)
    )


def _replaces(later: _Claim, earlier: _Claim) -> bool:
    shared = len(later.terms & earlier.terms)
    if shared < MIN_SHARED_TERMS:
        return False
    if later.changes:
        return shared >= MIN_SHARED_SHARE * min(len(later.terms), len(earlier.terms))
    are_same = shared >= min(len(later.terms), len(earlier.terms)) and len(later.terms ^ earlier.terms) <= MAX_OTHER_TERMS
    has_other_values = bool(later.values and earlier.values) and later.values.isdisjoint(earlier.values)
    return are_same and later.labels == earlier.labels and has_other_values


def _claim(excerpt: Excerpt, terms: Terms) -> _Claim:
    values, labels, before = set[str](), set[str](), ""
    for word in words_of(excerpt.line.text):
        if any(map(str.isdigit, word)) or word in word_set("times") or word in word_set("numbers"):
            is_label = word[-1].isdigit() and bool(before) and not before[-1].isdigit() and bool(terms(before))
            (labels if is_label else values).add(word)
        before = word
    about = excerpt.terms - frozenset(terms(" ".join((*values, *labels))).split())
    return _Claim(about, frozenset(labels), frozenset(values), has_word("changes", excerpt.line.text))


def _choose(view: View, pool: list[Excerpt], cap: int, end: int, words: Functions) -> list[Excerpt]:
    if not pool:
        return []
    rarity, columns = _rarity(view, pool, end)
    all_columns, starts = np.concatenate(columns), np.cumsum([0, *map(len, columns[:-1])])
    day, day_cost = _day_costs(pool, words.count)
    line_cost, worth = np.array([excerpt.cost for excerpt in pool]), np.array([excerpt.worth for excerpt in pool])
    vectors, nearness = _vectors(view, pool), np.zeros(len(pool))
    conflicts = _conflicts(pool)
    is_free, room = np.ones(len(pool), np.bool_), cap
    best: list[Excerpt] = []
    while True:
        cost = line_cost + day_cost[day]
        value = np.add.reduceat(rarity[all_columns], starts) * worth * (1 - nearness) / (cost + LINE_TOKENS)
        value[~is_free | (cost > room)] = 0
        number = int(value.argmax())
        if value[number] <= 0:
            return best
        best.append(pool[number])
        room -= int(cost[number])
        is_free[conflicts[number]], day_cost[day[number]] = False, 0
        rarity[columns[number]] = 0
        nearness = np.maximum(nearness, vectors @ vectors[number])


def _rarity(view: View, pool: list[Excerpt], end: int) -> tuple[Doubles, list[Ints]]:
    """How rare each term is, shape (terms,), and the terms of each excerpt."""
    terms = sorted(frozenset[str]().union(*(excerpt.terms for excerpt in pool)))
    column = {term: number for number, term in enumerate(terms)}
    columns = [np.array(sorted(column[term] for term in excerpt.terms), np.int64) for excerpt in pool]
    holding = (len(view.history.passages.postings.of(term, end)[0]) for term in terms)
    return np.array([math.log(1 + end / max(passages, 1)) for passages in holding]), columns


def _day_costs(pool: list[Excerpt], count: Callable[[str], int]) -> tuple[Ints, Ints]:
    """For each excerpt the number of its day, and for each day the tokens of its line."""
    days = sorted({excerpt.line.day for excerpt in pool})
    day = np.array([days.index(excerpt.line.day) for excerpt in pool], np.int64)
    return day, np.array([count(f"[{name}]\n") if name else 0 for name in days])


def _conflicts(pool: list[Excerpt]) -> list[list[int]]:
    by_spot: dict[tuple[int, int], list[int]] = {}
    for number, excerpt in enumerate(pool):
        for spot in excerpt.parts:
            by_spot.setdefault(spot, []).append(number)
    return [sorted({other for spot in excerpt.parts for other in by_spot[spot]}) for excerpt in pool]


def _vectors(view: View, pool: list[Excerpt]) -> NDArray[np.float32]:
    """Shape (excerpts, width); zeros where there is none."""
    every = view.prefix.vectors
    if every is None or not len(every):
        return np.zeros((len(pool), 1), np.float32)
    passages = np.array([excerpt.passage for excerpt in pool], np.int64)
    vectors = every[passages]
    vectors[passages < 0] = 0
    return vectors
