"""Passages that alone have a word of the query, or a keyword that it names."""

import numpy as np

from builder.language.words import words_of
from builder.recall.index.view import Floats, Rows, View
from builder.recall.search.query import MAX_WORDS, Query

MAX_KEYWORD_WORDS = 4
MARGIN = np.float32(1e-3)
"""Points of the score between a passage with a rare word and the best one without any word of the query."""


def literal_passages(query: Query, view: View, unseen: Rows) -> Floats:
    """How much each passage answers by rare words or keywords alone, shape (passages,).

    unseen: what may be found, shape (passages,). What was said twice in the same words is one place.
    """
    weight, words = np.zeros(view.passages, np.float32), words_of(query.text)[:MAX_WORDS]
    for stems in query.content:
        there = np.flatnonzero(view.prefix.holding(stems) & unseen)
        same = view.repeats(int(view.crumb[there[0]])) if len(there) else ()
        if len(there) <= len(same) and set(view.crumb[there].tolist()).issubset(same):
            weight[there] += np.log1p(view.passages)
    starts = range(len(words))
    phrases = (" ".join(words[start : start + size]) for size in range(1, MAX_KEYWORD_WORDS + 1) for start in starts)
    keywords = view.history.breadcrumbs.keywords
    for rows in [keywords[phrase] for phrase in dict.fromkeys(phrases) if phrase in keywords]:
        first = [number for row in rows if row < view.size and (number := view.first_passage(row)) is not None and unseen[number]]
        weight[first] += np.log1p(view.passages / max(len(first), 1))
    return weight


def lifted(query: Query, view: View, scores: Floats, literal: Floats, unseen: Rows) -> Floats:
    """The scores, with passages that have a rare word or keyword above unseen ones without a word of the query."""
    others = unseen & (literal == 0) & ~view.prefix.holding(query.words)
    floor = scores.max(initial=-np.inf, where=others) + MARGIN * literal
    return np.where(literal > 0, np.maximum(scores, floor), scores)
