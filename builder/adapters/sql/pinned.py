"""Pinned breadcrumbs as of a place."""

import heapq
from collections.abc import Iterator
from dataclasses import replace

from builder.adapters.sql.connection import Cursor, Row
from builder.adapters.sql.rows import BREADCRUMB_COLUMNS, HELD_COLUMNS, from_columns, indexed
from builder.domain.breadcrumb import NO_SESSION, Place
from builder.domain.recall import RecallQuery
from builder.domain.selector import Pinned, Selector
from builder.domain.stored import StoredBreadcrumb

_UNTIL = "(held.incarnation, held.sequence) <= (?, ?) ORDER BY held.incarnation DESC, held.sequence DESC LIMIT ?"
# One query for each session: asked for two at once, SQLite sorts all that it finds before it gives the first.
# Left alone, it walks the whole workspace backwards by place until it meets the schema, which may never come.
_BY_SCHEMA = (
    f"SELECT {HELD_COLUMNS} FROM breadcrumbs AS held INDEXED BY breadcrumbs_latest "
    f"WHERE held.workspace = ? AND held.schema = ? AND held.session = ? AND {_UNTIL}"
)
_BY_TAG = (
    f"SELECT {BREADCRUMB_COLUMNS} FROM tags AS held CROSS JOIN breadcrumbs USING (workspace, session, incarnation, sequence) "
    f"WHERE held.workspace = ? AND held.tag = ? AND held.session = ? AND {_UNTIL}"
)
_BY_ID = (
    f"SELECT {HELD_COLUMNS} FROM breadcrumbs AS held WHERE held.workspace = ? AND held.id = ? AND held.session = ? AND {_UNTIL}"
)
_IN_SESSION = "workspace = ?1 AND session IN (?3, ?4) AND erased = '' AND (incarnation, sequence) <= (?7, ?8)"
# Asked for both at once, it walks everything that came later.
_FIRST_PAGE = 8
_GONE = (
    f"SELECT 1 FROM breadcrumbs INDEXED BY breadcrumbs_identity WHERE id = ?2 AND version > ?9 AND {_IN_SESSION} "
    "UNION ALL SELECT 1 FROM breadcrumbs INDEXED BY breadcrumbs_tombstones WHERE removes = ?2 AND removes <> '' "
    f"AND (incarnation, sequence) > (?5, ?6) AND {_IN_SESSION}"
)


def find_pinned(sql: Cursor, query: RecallQuery, kind: Pinned) -> tuple[StoredBreadcrumb, ...]:
    """Matches without passages, newest first."""
    matches: list[StoredBreadcrumb] = []
    query = replace(query, session=NO_SESSION) if kind.of_no_session else query
    for row in _candidates(sql, query, kind.selector):
        row_noun = from_columns(row, (), "")
        crumb = row_noun.breadcrumb
        if kind.selector.matches(crumb) and not crumb.removes and not _is_gone(sql, query, row):
            matches.append(row_noun)
            if len(matches) == kind.limit:
                break
    return tuple(matches)


def _candidates(sql: Cursor, query: RecallQuery, selector: Selector) -> Iterator[Row]:
    tags = tuple(map(indexed, selector.any_tags or selector.all_tags[:1]))
    text, values = (_BY_ID, selector.ids) if selector.ids else (_BY_TAG, tags) if tags else (_BY_SCHEMA, selector.schemas)
    sessions = dict.fromkeys((query.session, NO_SESSION))
    runs = [
        _newest_first(sql, text, (query.scope.workspace, value, session), query.until)
        for value in dict.fromkeys(values)
        for session in sessions
    ]
    before = None
    for row in heapq.merge(*runs, key=lambda row: (int(row[2]), int(row[3]), str(row[1])), reverse=True):
        if row[:4] != before:
            yield row
        before = row[:4]


def _newest_first(sql: Cursor, text: str, values: tuple[str, str, str], until: Place) -> Iterator[Row]:
    limit = _FIRST_PAGE
    while rows := list(sql.execute(text, (*values, *until, limit))):
        yield from rows
        if len(rows) < limit:
            return
        until, limit = Place(*rows[-1][2:4]).previous, 2 * limit


def _is_gone(sql: Cursor, query: RecallQuery, row: Row) -> bool:
    workspace, session, incarnation, sequence, identity, version = row[:6]
    values = (workspace, identity, session, NO_SESSION, incarnation, sequence, *query.until, version)
    return next(sql.execute(_GONE, values), None) is not None
