"""Which line of a summary yields to a later one: both are about the same thing, and the later one says it otherwise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from builder.language.lists import word_set
from builder.language.words import changes, words_of
from builder.recall.summaries.excerpts import Excerpt

MIN_SHARED_TERMS = 2
"""Terms that two lines about the same thing share at least."""
MIN_SHARED_SHARE = 0.5
"""Of the terms of the line that has fewer, where the later one says that something changed."""
MAX_OTHER_TERMS = 1
"""Terms that one line has more than the other, where nothing but numbers and days tells that something changed."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a line is about, and what it says of it."""

    terms: frozenset[str]
    """Without numbers and days."""
    labels: frozenset[str]
    """Numbers behind a word that means something: "crate 3", "batch 7". They tell things apart."""
    values: frozenset[str]
    """All other numbers, and days: "900 euros", "on Friday"."""
    changes: bool


def outdated(excerpts: Sequence[Excerpt], terms: Callable[[str], str]) -> frozenset[int]:
    """Numbers of the excerpts that a later one replaces. terms: text → stemmed terms joined by spaces.

    Two lines of one row replace nothing.
    """
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


def _claim(excerpt: Excerpt, terms: Callable[[str], str]) -> _Claim:
    values, labels, before = set[str](), set[str](), ""
    for word in words_of(excerpt.line.text):
        if any(map(str.isdigit, word)) or word in word_set("times") or word in word_set("numbers"):
            is_label = word[-1].isdigit() and bool(before) and not before[-1].isdigit() and bool(terms(before))
            (labels if is_label else values).add(word)
        before = word
    about = excerpt.terms - frozenset(terms(" ".join((*values, *labels))).split())
    return _Claim(about, frozenset(labels), frozenset(values), changes(excerpt.line.text))
