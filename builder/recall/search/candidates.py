"""The candidates of a query, and its finds."""

from dataclasses import dataclass

import numpy as np

from builder.domain.breadcrumb import NO_SESSION
from builder.domain.retrieval import Retrieval
from builder.domain.summary import KeptLine
from builder.language.sentences import Spans
from builder.recall.index.breadcrumb_table import Codes, Doubles, Floats, Ints, Rows
from builder.recall.index.view import View
from builder.recall.scopes import NOTES
from builder.recall.search.query import Query
from builder.recall.search.signals import similarity


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A passage that was found."""

    row: int
    spans: Spans = ()
    """Its place in the breadcrumb's text; () = the whole text."""
    times: int = 1
    tokens: int = 0
    probability: float = 0.0
    """That it answers the query; of a reply, at least a share of that of its question."""
    share: float = 0.0
    """Its share among all passages, if one of them answers."""
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
    """The share of each passage, if one of them answers; they sum to 1. Shape (passages,)."""
    probability: Floats
    """Shape (passages,)."""
    answered: float
    """The probability that anything answers."""
    is_literal: Rows
    """Found by a rare word or a keyword, shape (passages,)."""


def probability_of(candidates: Candidates | None, view: View, row: int) -> float | None:
    """Probability of a breadcrumb's most probable passage; None where it was no candidate."""
    if candidates is None or row < 0:
        return None
    passages = slice(view.history.passages.first(row), view.history.passages.first(row + 1))
    unseen = candidates.probability[passages][candidates.unseen[passages]]
    return float(unseen.max()) if len(unseen) else None


def find_of(view: View, passage: int, candidates: Candidates, times: int = 1) -> Find:
    """The find that shows a passage."""
    row, number = view.place_of(passage)
    passages = view.history.rows[row].passages
    stored = passages[number]
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
    no_session = table.sessions.get(NO_SESSION, -1)
    if rules.scope != "workspace" and view.session != no_session:
        rows &= (view.session_of != no_session) | _among(table.schema[: view.size], table.schemas, NOTES)
    rows[list(summaries)] = True
    return rows


def eligible_passages(query: Query, view: View, rules: Retrieval, breadcrumbs: Rows, *, bare_calls: bool = False) -> Rows:
    """Passages of eligible breadcrumbs that have words and are as similar as the profile asks, shape (passages,).

    bare_calls: also of those that say nothing and call tools.
    """
    rows = breadcrumbs if bare_calls else breadcrumbs & ~view.history.breadcrumbs.filler[: view.size]
    passages = rows[view.crumb] & (view.prefix.length > 0)
    if rules.similarity_threshold > 0 and query.vector:
        passages &= ~view.prefix.has_vector | (similarity(query, view) >= rules.similarity_threshold)
    return passages


def _among(values: Ints, codes: Codes, names: tuple[str, ...] | frozenset[str]) -> Rows:
    """Where the code is that of one of the names."""
    is_named = np.zeros(len(codes), np.bool_)
    is_named[[codes[name] for name in names if name in codes]] = True
    return is_named[values]
