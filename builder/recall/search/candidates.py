"""What a query may find and what it finds, and points that have no learned weight."""

import re
from dataclasses import dataclass

import numpy as np

from builder.domain.breadcrumb import NO_SESSION, TOOL_ERROR
from builder.domain.retrieval import Retrieval
from builder.domain.summary import KeptLine
from builder.language.word_lists import has_word
from builder.language.words import words_of
from builder.recall.index.view import Doubles, Floats, Ints, Rows, View
from builder.recall.scopes import NOTES
from builder.recall.search.query import MAX_WORDS, Query
from builder.recall.search.signals import similarity


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A passage that was found."""

    row: int
    spans: tuple[tuple[int, int], ...] = ()
    """Its place in the breadcrumb's text; () = the whole text."""
    times: int = 1
    tokens: int = 0
    probability: float = 0.0
    """That it answers the query; of a reply, at least a share of that of its question."""
    share: float = 0.0
    """Of all passages, if one of them answers."""
    reply_to: int = -1
    """Row of the find that it comes along with, as what was said in reply; -1 = it was found by itself."""
    answer: int = -1
    """Row of the find that it comes along with, as the question that it answers; -1 = none."""
    replaces: int = -1
    """Row of the find that it comes along with, as what changes it later; -1 = none."""
    neighbour_of: int = -1
    """Row of the find that it stands next to, for a profile that asks for neighbours; -1 = none."""
    lines: tuple[tuple[int, KeptLine], ...] = ()
    """Observations that are shown in its place, after the rows of their summaries."""
    is_literal: bool = False
    """It alone has a word of the query, or the query has a keyword of it: however improbable, it is found."""

    @property
    def leader(self) -> int:
        """Row of the find of which it is the other half; -1 = none."""
        return max(self.reply_to, self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The passages and breadcrumbs that a query may find."""

    breadcrumbs: Rows
    unseen: Rows
    """Passages that may be found and are not on the page, shape (passages,)."""
    scores: Floats
    share: Doubles
    """Of each passage, if one of them answers; they sum to 1. Shape (passages,)."""
    probability: Floats
    """Shape (passages,)."""
    answered: float
    """The probability that anything answers."""
    is_literal: Rows
    """Found by a rare word or a keyword, shape (passages,)."""


def probability_of(candidates: Candidates | None, view: View, row: int) -> float | None:
    """Of a breadcrumb's most probable passage; None where it was no candidate."""
    if candidates is None or row < 0:
        return None
    passages = slice(view.history.passages.first(row), min(view.history.passages.first(row + 1), view.passages))
    unseen = candidates.probability[passages][candidates.unseen[passages]]
    return float(unseen.max()) if len(unseen) else None


def find_of(view: View, passage: int, candidates: Candidates, times: int = 1) -> Find:
    """The find that shows a passage."""
    row = int(view.crumb[passage])
    passages = view.history.rows[row].passages
    stored = passages[passage - view.history.passages.first(row)]
    spans = ((stored.start, stored.end),) if len(passages) > 1 else ()
    return Find(
        row=row,
        spans=spans,
        times=times,
        tokens=stored.tokens,
        probability=float(candidates.probability[passage]),
        share=float(candidates.share[passage]),
        is_literal=bool(candidates.is_literal[passage]),
    )


def eligible_breadcrumbs(query: Query, view: View, rules: Retrieval, summaries: frozenset[int] = frozenset()) -> Rows:
    """Current, of the profile's schemas and people, shape (size,). summaries: eligible rows, too."""
    table = view.history.breadcrumbs
    rows = _among(table.schema[: view.size], table.schemas, rules.schemas) & view.current
    if rules.people == "named":
        rows &= ~table.by_person[: view.size] | _among(table.speaker[: view.size], table.speakers, query.names)
    no_session = table.sessions.get(NO_SESSION)
    if rules.scope != "workspace" and no_session not in (None, view.session):
        rows &= (view.session_of != no_session) | _among(table.schema[: view.size], table.schemas, NOTES)
    rows[list(summaries)] = True
    return np.asarray(rows)


def eligible_passages(query: Query, view: View, rules: Retrieval, breadcrumbs: Rows) -> Rows:
    """Of eligible breadcrumbs, with words, as similar as the profile asks, shape (passages,)."""
    rows = breadcrumbs & ~view.history.breadcrumbs.filler[: view.size]
    passages = np.asarray(rows[view.crumb] & (view.history.passages.length[: view.passages] > 0), np.bool_)
    if rules.similarity_threshold > 0 and query.vector:
        passages &= ~view.prefix.has_vector | (similarity(query, view) >= rules.similarity_threshold)
    return passages


def _among(values: Ints, codes: dict[str, int], names: tuple[str, ...] | frozenset[str]) -> Rows:
    """Where the code is that of one of the names."""
    is_named = np.zeros(len(codes), np.bool_)
    is_named[[codes[name] for name in names if name in codes]] = True
    return is_named[values]


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
"""Of a passage with an identifier of the query; of what failed, where the query asks for that."""
MAX_SHARE, FEW_PASSAGES = 0.1, 3
"""Of all passages, and passages, up to which an identifier tells them apart."""
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
