"""Points of the score that have no learned weight: for what is written as in the query, for failures, for breadth.

The labelled conversations ask for no file names and no failures, and most of their messages are one passage.
"""

import re
from collections.abc import Callable

import numpy as np

from builder.language.words import identifiers
from builder.recall.index.prefix import Floats, Ints
from builder.recall.index.view import View
from builder.recall.search.query import Query

POINTS = np.float32(1.5)
"""Of a passage with an identifier of the query; of what failed, where the query asks for that."""
MAX_SHARE, FEW_PASSAGES = 0.1, 3
"""Of all passages, and passages, up to which an identifier tells them apart."""
MAX_LOOKS = 500
"""Passages with the words of an identifier that are read for it."""
FURTHER, FURTHER_BROADLY = np.float32(0.75), np.float32(3)
"""Points that each further passage of a message costs; where the answer is in many messages, they come first."""
MAX_FURTHER = 4
"""Passages of a message after which no further one costs more."""
FAILURE_SCHEMA = "tool.error.v1"


def identifier_terms(text: str, terms: Callable[[str], str]) -> dict[str, frozenset[str]]:
    """The identifiers of a query, each with its stemmed terms."""
    return {name: frozenset(terms(name).split()) for name in identifiers(text)}


def exact(query: Query, view: View) -> Floats:
    """Points of what has an identifier of the query, or failed as the query asks, shape (passages,)."""
    points = np.zeros(view.passages, np.float32)
    for name, stems in query.identifiers.items():
        pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w]|[.,:/-]\d)", re.IGNORECASE)
        newest = _candidates(stems, view)[-MAX_LOOKS:].tolist()
        there = [passage for passage in newest if pattern.search(_text(passage, view))]
        if len(there) <= max(MAX_SHARE * view.passages, FEW_PASSAGES):
            points[there] = POINTS
    code = view.history.breadcrumbs.schemas.get(FAILURE_SCHEMA)
    if query.asks_failure and code is not None:
        points[view.of_breadcrumb(view.history.breadcrumbs.schema) == code] += POINTS
    return points


def further(query: Query, view: View, scores: Floats) -> Floats:
    """Points that a passage loses by better ones of its message, shape (passages,)."""
    order = np.lexsort((-scores, view.crumb))
    messages, numbers = view.crumb[order], np.arange(len(order))
    is_first = np.append(True, messages[1:] != messages[:-1])[: len(order)]
    places = np.empty(len(order), np.float32)
    places[order] = numbers - np.maximum.accumulate(np.where(is_first, numbers, 0))
    return np.minimum(places, MAX_FURTHER) * (FURTHER_BROADLY if query.asks_broadly else FURTHER)


def _candidates(stems: frozenset[str], view: View) -> Ints:
    """The passages that have all of these terms."""
    holds = np.full(view.passages, bool(stems))
    for stem in stems:
        there = np.zeros(view.passages, np.bool_)
        there[view.prefix.occurrences(stem)[0].passages] = True
        holds &= there
    return np.flatnonzero(holds)


def _text(passage: int, view: View) -> str:
    row = int(view.crumb[passage])
    stored = view.history.rows[row]
    place = stored.passages[passage - view.history.passages.first(row)]
    return stored.breadcrumb.text[place.start : place.end]
