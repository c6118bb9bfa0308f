"""The scores of what a query may find: learned weights, points without any, rare words; and the chance of each passage."""

import re

import numpy as np

from builder.domain.breadcrumb import TOOL_ERROR
from builder.domain.retrieval import Retrieval
from builder.language.word_lists import has_word
from builder.language.words import words_of
from builder.recall.index.breadcrumb_table import Floats, Ints, Rows
from builder.recall.index.view import View
from builder.recall.search.candidates import Candidates, eligible_breadcrumbs, eligible_passages
from builder.recall.search.chance import answered, chances, shares
from builder.recall.search.query import MAX_WORDS, Query
from builder.recall.search.ranking import Ranker, rank


def scored(
    query: Query,
    view: View,
    rules: Retrieval,
    ranker: Ranker,
    page_rows: frozenset[int] = frozenset(),
    question: int = -1,
    summaries: frozenset[int] = frozenset(),
    *,
    bare_calls: bool = False,
) -> Candidates | None:
    """None when nothing unseen may be found. What the page shows competes for probability too.

    page_rows: rows that the page shows. question: row whose words the query is, -1 = none. summaries: rows whose observations
    may be found. bare_calls: of `eligible_passages`.
    """
    breadcrumbs = eligible_breadcrumbs(query, view, rules, summaries)
    passages = eligible_passages(query, view, rules, breadcrumbs, bare_calls=bare_calls) & (view.crumb != question)
    unseen = passages & ~np.isin(view.crumb, list(page_rows))
    if not unseen.any():
        return None
    weights = ranker.weights(query, view)
    # An observation has words of its message: these are still in one place.
    literal = literal_passages(query, view, unseen & ~np.isin(view.crumb, list(summaries)))
    learned = rank(query, view, weights.passages)
    scores = lifted(query, view, learned + exact(query, view) - further(view, learned), literal, unseen)
    share = shares(scores, passages)
    answer = answered(query, view, share, passages, weights.answer)
    return Candidates(
        breadcrumbs=breadcrumbs,
        unseen=unseen,
        scores=scores,
        share=share,
        probability=chances(share, answer, weights.calibration),
        answered=answer,
        is_literal=literal > 0,
    )


def best_of(scores: Floats, passages: Ints, number: int) -> Ints:
    """The best of these passages, best first, ties to the later one."""
    if len(passages) > number:
        threshold = np.partition(scores[passages], -number)[-number]
        passages = passages[scores[passages] >= threshold]
    return passages[np.lexsort((-passages, -scores[passages]))][:number]


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


POINTS = np.float32(1.5)
"""For an identifier of the query; for a failure, if the query asks for one."""
MAX_SHARE, FEW_PASSAGES = 0.1, 3
"""An identifier in more of all passages, by share and by number, tells none apart."""
MAX_LOOKS = 500
"""Passages with the words of an identifier that are read for it."""
FURTHER = np.float32(0.75)
"""Points that each further passage of a message costs; the parts of a result are records and lines, each for itself."""
MAX_FURTHER = 4
"""Passages of a message after which no further one costs more."""


def exact(query: Query, view: View) -> Floats:
    """Points for an identifier of the query, or a failure that it asks for, shape (passages,)."""
    points = np.zeros(view.passages, np.float32)
    for name, stems in query.identifiers.items():
        pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w]|[.,:/-]\d)", re.IGNORECASE)
        newest = _passages_with(stems, view)[-MAX_LOOKS:].tolist()
        there = [passage for passage in newest if pattern.search(view.text_of(passage))]
        if len(there) <= max(MAX_SHARE * view.passages, FEW_PASSAGES):
            points[there] = POINTS
    if has_word("failures", query.text):
        table = view.history.breadcrumbs
        points[table.schema[view.crumb] == table.schemas.get(TOOL_ERROR, -1)] += POINTS
    return points


def further(view: View, scores: Floats) -> Floats:
    """Points lost to better passages of the same message, and to other parts of the same form, shape (passages,)."""
    points = np.log(view.prefix.of_form).astype(np.float32)
    several = view.prefix.of_several
    several = several[~view.history.breadcrumbs.by_tool[view.crumb[several]]]
    order = several[np.lexsort((-scores[several], view.crumb[several]))]
    messages = view.crumb[order]
    points[order] += FURTHER * np.minimum(np.arange(len(order)) - np.searchsorted(messages, messages), MAX_FURTHER)
    return points


def _passages_with(stems: frozenset[str], view: View) -> Ints:
    holds = np.full(view.passages, bool(stems))
    for stem in stems:
        holds &= view.prefix.holding((stem,))
    return np.flatnonzero(holds)
