"""Breadcrumbs without a session that belong to a scope: joined tool results, tombstones, shared schemas."""

from collections.abc import Iterable, Mapping
from typing import Any

from builder.adapters.sql.connection import Cursor
from builder.adapters.sql.joins import JOINS, find_joined
from builder.adapters.sql.rows import BREADCRUMB_COLUMNS
from builder.domain.breadcrumb import NO_SESSION, Place
from builder.domain.recall import EVERY_SESSION, RecallQuery

Rows = Iterable[tuple[Any, ...]]

_SPAN = "(incarnation, sequence) > (?2, ?3) AND (incarnation, sequence) <= (?4, ?5) ORDER BY incarnation, sequence LIMIT ?6"
_REMOVALS = (
    f"SELECT {BREADCRUMB_COLUMNS}, {JOINS} FROM breadcrumbs INDEXED BY breadcrumbs_removals "
    f"WHERE workspace = ?1 AND session = '{NO_SESSION}' AND removes <> '' AND erased = '' AND {_SPAN}"
)
_OTHER = f"""
    SELECT 1 FROM breadcrumbs AS other INDEXED BY breadcrumbs_identity
    WHERE other.version {{than}} breadcrumbs.version AND other.workspace = ?1 AND other.id = breadcrumbs.id
      AND other.session = '{NO_SESSION}' AND other.removes = ''
      AND (other.incarnation, other.sequence) < (breadcrumbs.incarnation, breadcrumbs.sequence)
"""
# A later version belongs where an earlier one does, whatever it says by then.
_SHARED = f"""
    SELECT {BREADCRUMB_COLUMNS}, {JOINS} FROM breadcrumbs
    WHERE workspace = ?1 AND session = '{NO_SESSION}' AND removes = '' AND erased = ''
      AND (schema IN ({{schemas}}) OR version > 1 AND EXISTS ({_OTHER.format(than="<")} AND other.schema IN ({{schemas}})))
      AND NOT EXISTS ({_OTHER.format(than=">")})
      AND {_SPAN}
"""
_FIRST_SCHEMA = 7


def find(sql: Cursor, query: RecallQuery, spans: Mapping[str, Place]) -> tuple[Rows, ...]:
    """Tombstones, joined rows and shared schemas; () within NO_SESSION. spans: session → place after which."""
    if query.scope.sessions == (EVERY_SESSION,) or NO_SESSION in query.scope.sessions:
        return ()
    span = (query.scope.workspace, *query.after, *query.until, query.limit)
    return sql.execute(_REMOVALS, span), find_joined(sql, query, spans), _shared(sql, query.scope.shared, span)


def _shared(sql: Cursor, schemas: tuple[str, ...], span: tuple[Any, ...]) -> Rows:
    if not schemas:
        return ()
    numbers = ", ".join(f"?{number}" for number in range(_FIRST_SCHEMA, _FIRST_SCHEMA + len(schemas)))
    return sql.execute(_SHARED.format(schemas=numbers), (*span, *schemas))
