"""The SQL of what joins a session from none: a tool's answer, by the id of who asked last before it (features A8).

Kept beside the rows like an index, so that a recall does not look through the answers of every other session.
"""

from collections.abc import Iterable
from typing import Any

import apsw

from builder.adapters.sqlite.rows import BREADCRUMB_COLUMNS, key_of
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.recall import RecallQuery

Session = tuple[str, str]

_COLUMNS = ", ".join(f"held.{name}" for name in BREADCRUMB_COLUMNS.split(", "))
_WHERE = "workspace = ? AND call = ? AND incarnation = ? AND sequence = ? AND session = ?"
_NOTE = "INSERT OR IGNORE INTO calls (workspace, call, incarnation, sequence, session, asks) VALUES (?, ?, ?, ?, ?, ?)"
_ANSWERS = """
    SELECT answer.incarnation, answer.sequence, answer.session, answer.joins, coalesce((
        SELECT caller.session FROM calls AS caller
        WHERE caller.workspace = answer.workspace AND caller.call = answer.call AND caller.asks
          AND (caller.incarnation, caller.sequence) < (answer.incarnation, answer.sequence)
        ORDER BY caller.incarnation DESC, caller.sequence DESC LIMIT 1
    ), '')
    FROM calls AS answer WHERE answer.workspace = ? AND answer.call = ? AND NOT answer.asks
"""
_JOINED = f"""
    SELECT {_COLUMNS} FROM calls AS joined INDEXED BY calls_joins CROSS JOIN breadcrumbs AS held
      ON held.workspace = joined.workspace AND held.session = joined.session
     AND held.incarnation = joined.incarnation AND held.sequence = joined.sequence
    WHERE joined.workspace = ? AND joined.joins IN ({{sessions}}) AND joined.joins <> ''
      AND (joined.incarnation, joined.sequence) > (?, ?) AND (joined.incarnation, joined.sequence) <= (?, ?)
    ORDER BY joined.incarnation, joined.sequence LIMIT ?
"""


def note(sql: apsw.Connection, crumb: Breadcrumb) -> frozenset[Session]:
    """List a new row's calls or answer. Returns the sessions of which the rows changed: something joined one, now another."""
    named = _named(crumb)
    workspace, session, incarnation, sequence = key_of(crumb)
    rows = [(workspace, call, incarnation, sequence, session, bool(crumb.asked)) for call in named]
    sql.executemany(_NOTE, rows)
    return _join(sql, ((workspace, call) for call in named))


def drop(sql: apsw.Connection, crumbs: Iterable[Breadcrumb]) -> frozenset[Session]:
    """Take rows off the list. Returns the sessions of which the rows changed by it, without the rows' own."""
    named = [(crumb, call) for crumb in crumbs for call in _named(crumb)]
    left: set[Session] = set()
    for crumb, call in named:
        left |= joined(sql, crumb)
        workspace, session, incarnation, sequence = key_of(crumb)
        sql.execute(f"DELETE FROM calls WHERE {_WHERE}", (workspace, call, incarnation, sequence, session))
    return _join(sql, ((crumb.workspace, call) for crumb, call in named)) | left


def joined(sql: apsw.Connection, crumb: Breadcrumb) -> frozenset[Session]:
    """The session that it joined, if it joined any."""
    workspace, session, incarnation, sequence = key_of(crumb)
    where = (workspace, crumb.joins_by, incarnation, sequence, session)
    found = sql.execute(f"SELECT joins FROM calls WHERE {_WHERE} AND joins <> ''", where) if crumb.joins_by else ()
    return frozenset((workspace, joins) for (joins,) in found)


def find(sql: apsw.Connection, query: RecallQuery) -> Iterable[tuple[Any, ...]]:
    """Rows of BREADCRUMB_COLUMNS that joined a session of the query's, in place order."""
    sessions = query.scope.sessions
    text = _JOINED.format(sessions=", ".join("?" * len(sessions)))
    return sql.execute(text, (query.scope.workspace, *sessions, *query.after, *query.until, query.limit))


def _named(crumb: Breadcrumb) -> tuple[str, ...]:
    """The request ids under which it is listed."""
    return tuple(dict.fromkeys(crumb.asks_for)) or (crumb.joins_by,) * bool(crumb.joins_by)


def _join(sql: apsw.Connection, calls: Iterable[tuple[str, str]]) -> frozenset[Session]:
    moved: set[Session] = set()
    for workspace, call in dict.fromkeys(calls):
        for incarnation, sequence, session, before, now in list(sql.execute(_ANSWERS, (workspace, call))):
            if before != now:
                where = (workspace, call, incarnation, sequence, session)
                sql.execute(f"UPDATE calls SET joins = ? WHERE {_WHERE}", (now, *where))
                moved |= {(workspace, name) for name in (before, now) if before and name}
    return frozenset(moved)
