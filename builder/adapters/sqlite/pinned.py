"""Breadcrumbs that stand on a page: by schema, id or tag, from a session or from none, as of a place."""

import heapq
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import apsw

from builder.adapters.sqlite.rows import BREADCRUMB_COLUMNS, HELD_COLUMNS, from_columns
from builder.domain.breadcrumb import NO_SESSION
from builder.domain.recall import RecallQuery, StoredBreadcrumb
from builder.domain.selector import Pinned, Selector

Row = tuple[Any, ...]

_UNTIL = "(held.incarnation, held.sequence) <= (?, ?) ORDER BY held.incarnation DESC, held.sequence DESC"
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
_REMOVED = (
    f"SELECT 1 FROM breadcrumbs INDEXED BY breadcrumbs_identity WHERE id = ?2 AND version > ?9 AND {_IN_SESSION} "
    "UNION ALL SELECT 1 FROM breadcrumbs INDEXED BY breadcrumbs_tombstones WHERE removes = ?2 AND removes <> '' "
    f"AND (incarnation, sequence) > (?5, ?6) AND {_IN_SESSION}"
)


def keep_tags(sql: apsw.Connection, key: tuple[str, str, int, int], tags: tuple[str, ...]) -> None:
    """Make a breadcrumb findable by its tags."""
    workspace, *where = key
    sql.executemany("INSERT INTO tags VALUES (?, ?, ?, ?, ?)", [(workspace, tag, *where) for tag in dict.fromkeys(tags)])


def find(sql: apsw.Connection, query: RecallQuery, kind: Pinned) -> tuple[StoredBreadcrumb, ...]:
    """Without passages, newest first: as many as are kept of what the selector means."""
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


def _candidates(sql: apsw.Connection, query: RecallQuery, selector: Selector) -> Iterator[Row]:
    """Everything that one condition of the selector finds, newest first, each once."""
    tags = selector.any_tags or selector.all_tags[:1]
    text, values = (_BY_ID, selector.ids) if selector.ids else (_BY_TAG, tags) if tags else (_BY_SCHEMA, selector.schemas)
    sessions = dict.fromkeys((query.session, NO_SESSION))
    runs = [
        sql.cursor().execute(text, (query.scope.workspace, value, session, *query.until))
        for value in dict.fromkeys(values)
        for session in sessions
    ]
    before = None
    for row in heapq.merge(*runs, key=lambda row: (int(row[2]), int(row[3]), str(row[1])), reverse=True):
        if row[:4] != before:
            yield row
        before = row[:4]


def _is_gone(sql: apsw.Connection, query: RecallQuery, row: Row) -> bool:
    """Whether a higher version, or after it a tombstone, of its own session or of none came by then."""
    workspace, session, incarnation, sequence, identity, version = row[:6]
    values = (workspace, identity, session, NO_SESSION, incarnation, sequence, *query.until, version)
    return next(sql.execute(_REMOVED, values), None) is not None
