"""Points that have no learned weight."""

import re

import numpy as np

from builder.domain.breadcrumb import TOOL_ERROR
from builder.language.word_lists import has_word
from builder.recall.index.view import Floats, Ints, View
from builder.recall.search.query import Query

POINTS = np.float32(1.5)
"""For an identifier of the query; for a failure, if the query asks for one."""
MAX_SHARE, FEW_PASSAGES = 0.1, 3
"""An identifier in more of all passages, by share and by number, tells none apart."""
MAX_LOOKS = 500
"""Passages with the words of an identifier that are read for it."""
FURTHER, FURTHER_BROADLY = np.float32(0.75), np.float32(3)
"""Points that each further passage of a message costs; where the answer is in many messages, they come first."""
MAX_FURTHER = 4
"""Passages of a message after which no further one costs more."""


def exact(query: Query, view: View) -> Floats:
    """Points for an identifier of the query, or a failure that it asks for, shape (passages,)."""
    points = np.zeros(view.passages, np.float32)
    for name, stems in query.identifiers.items():
        pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w]|[.,:/-]\d)", re.IGNORECASE)
        newest = _passages_with(stems, view)[-MAX_LOOKS:].tolist()
        there = [passage for passage in newest if pattern.search(_text_of(passage, view))]
        if len(there) <= max(MAX_SHARE * view.passages, FEW_PASSAGES):
            points[there] = POINTS
    code = view.history.breadcrumbs.schemas.get(TOOL_ERROR)
    if has_word("failures", query.text) and code is not None:
        points[view.history.breadcrumbs.schema[view.crumb] == code] += POINTS
    return points


def further(query: Query, view: View, scores: Floats) -> Floats:
    """Points lost to better passages of the same message, shape (passages,)."""
    several, ranks = view.prefix.of_several, np.zeros(len(scores), np.float32)
    order = several[np.lexsort((-scores[several], view.crumb[several]))]
    messages, numbers = view.crumb[order], np.arange(len(order))
    is_first = np.append(True, messages[1:] != messages[:-1])[: len(order)]
    ranks[order] = numbers - np.maximum.accumulate(np.where(is_first, numbers, 0))
    return np.minimum(ranks, MAX_FURTHER) * (FURTHER_BROADLY if has_word("broad_questions", query.text) else FURTHER)


def _passages_with(stems: frozenset[str], view: View) -> Ints:
    holds = np.full(view.passages, bool(stems))
    for stem in stems:
        holds &= view.prefix.holding((stem,))
    return np.flatnonzero(holds)


def _text_of(passage: int, view: View) -> str:
    row = int(view.crumb[passage])
    stored = view.history.rows[row]
    part = stored.passages[passage - view.history.passages.first(row)]
    return stored.breadcrumb.text[part.start : part.end]
