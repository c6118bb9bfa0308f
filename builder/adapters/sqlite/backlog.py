"""The SQL of `Backlog`: what lacks vectors, and filling them in."""

from collections.abc import Iterator
from typing import Any

import apsw

from builder.adapters.sqlite import joins, revisions
from builder.adapters.sqlite.rows import BREADCRUMB_COLUMNS, key_of
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.facts import Remembered

MODEL = "INSERT INTO models (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING number"

_KEY = "workspace = ? AND session = ? AND incarnation = ? AND sequence = ?"
_OLDEST = f"""
    SELECT {BREADCRUMB_COLUMNS} FROM lacking CROSS JOIN breadcrumbs USING (workspace, session, incarnation, sequence)
    WHERE (incarnation, sequence, workspace, session) > (?, ?, ?, ?)
    ORDER BY incarnation, sequence, workspace, session LIMIT ?
"""
_BEFORE_ALL = (-1, -1, "", "")


def note(sql: apsw.Connection, crumb: Breadcrumb) -> None:
    """List it as lacking vectors."""
    sql.execute("INSERT INTO lacking (workspace, session, incarnation, sequence) VALUES (?, ?, ?, ?)", key_of(crumb))


def oldest(sql: apsw.Connection, limit: int, after: Breadcrumb | None) -> Iterator[tuple[Any, ...]]:
    """BREADCRUMB_COLUMNS of what is listed, the oldest place first. CROSS JOIN: SQLite walks the list, which is short."""
    start = (*after.place, after.workspace, after.session) if after else _BEFORE_ALL
    return sql.execute(_OLDEST, (*start, limit))


def fill(sql: apsw.Connection, remembered: Remembered) -> bool:
    """Write vectors and model, once."""
    key = key_of(remembered.breadcrumb)
    sql.execute(f"DELETE FROM lacking WHERE {_KEY}", key)
    if not sql.changes():
        return False
    (model,) = next(sql.execute(MODEL, (remembered.model,)))
    sql.executemany(
        f"UPDATE passages SET vector = ?, model = ? WHERE {_KEY} AND ordinal = ?",
        [(held.vector, model, *key, ordinal) for ordinal, held in enumerate(remembered.passages)],
    )
    revisions.revise(sql, {key[:2], *joins.joined(sql, remembered.breadcrumb)})
    return True


def left(sql: apsw.Connection) -> int:
    """How many are listed."""
    return int(next(sql.execute("SELECT count(*) FROM lacking"))[0])
