"""What a query may find, before any ranking."""

import numpy as np

from builder.domain.breadcrumb import NO_SESSION
from builder.domain.profile import Retrieval
from builder.recall.index.prefix import Rows
from builder.recall.index.view import View
from builder.recall.scopes import NOTES
from builder.recall.search.query import Query
from builder.recall.search.signals import similarity


def eligible_breadcrumbs(query: Query, view: View, rules: Retrieval, summaries: frozenset[int] = frozenset()) -> Rows:
    """Shape (size,): current, of the profile's schemas, and of the people that are meant. summaries: rows that are eligible, too.

    Of no session only notes, unless all sessions are searched: everything else of no session only ends a breadcrumb.
    """
    table = view.history.breadcrumbs
    rows = np.isin(view.column(table.schema), _codes(table.schemas, rules.schemas)) & view.current
    if rules.people == "named":
        rows &= ~view.column(table.by_person) | np.isin(view.column(table.speaker), _codes(table.speakers, query.names))
    no_session = table.sessions.get(NO_SESSION)
    if rules.scope == "session" and no_session == view.session:
        rows &= view.column(table.session) == view.session
    if rules.scope != "workspace" and no_session not in (None, view.session):
        rows &= (view.column(table.session) != no_session) | np.isin(view.column(table.schema), _codes(table.schemas, NOTES))
    rows[list(summaries)] = True
    return np.asarray(rows)


def eligible_passages(query: Query, view: View, rules: Retrieval, breadcrumbs: Rows) -> Rows:
    """Shape (passages,): of eligible breadcrumbs, with words, no small talk, as similar as the profile asks."""
    rows = breadcrumbs & ~view.column(view.history.breadcrumbs.filler)
    passages = np.asarray(rows[view.crumb] & (view.history.passages.length.head(view.passages) > 0), np.bool_)
    if rules.similarity_threshold > 0 and query.vector:
        passages &= ~view.prefix.has_vector | (similarity(query, view) >= rules.similarity_threshold)
    return passages


def _codes(codes: dict[str, int], names: tuple[str, ...] | frozenset[str]) -> list[int]:
    return [codes[name] for name in names if name in codes]
