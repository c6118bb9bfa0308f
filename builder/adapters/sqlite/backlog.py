"""The SQL of `MissingVectors`: what lacks vectors, and filling them in."""

from collections.abc import Iterator
from typing import Any

import apsw

from builder.adapters.sqlite.rows import BREADCRUMB_COLUMNS, KEY, key_of
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.recall import StoredBreadcrumb

MODEL = "INSERT INTO models (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING number"

_OLDEST = f"""
    SELECT {BREADCRUMB_COLUMNS} FROM lacking CROSS JOIN breadcrumbs USING (workspace, session, incarnation, sequence)
    WHERE (incarnation, sequence, workspace, session) > (?, ?, ?, ?)
    ORDER BY incarnation, sequence, workspace, session LIMIT ?
"""
_VECTORS = f"SELECT vector, name FROM passages JOIN models ON number = model WHERE {KEY} ORDER BY ordinal"
_BEFORE_ALL = (-1, -1, "", "")


def note(sql: apsw.Connection, crumb: Breadcrumb) -> None:
    """List it as lacking vectors."""
    sql.execute("INSERT INTO lacking (workspace, session, incarnation, sequence) VALUES (?, ?, ?, ?)", key_of(crumb))


def oldest(sql: apsw.Connection, limit: int, after: Breadcrumb | None) -> Iterator[tuple[Any, ...]]:
    """BREADCRUMB_COLUMNS of what is listed, the oldest place first. CROSS JOIN: SQLite walks the list, which is short."""
    start = (*after.place, after.workspace, after.session) if after else _BEFORE_ALL
    return sql.execute(_OLDEST, (*start, limit))


def fill_vectors(sql: apsw.Connection, remembered: StoredBreadcrumb) -> bool:
    """Write vectors and model, once."""
    key = key_of(remembered.breadcrumb)
    sql.execute(f"DELETE FROM lacking WHERE {KEY}", key)
    if not sql.changes():
        return False
    (model,) = next(sql.execute(MODEL, (remembered.model,)))
    sql.executemany(
        f"UPDATE passages SET vector = ?, model = ? WHERE {KEY} AND ordinal = ?",
        [(passage.vector, model, *key, ordinal) for ordinal, passage in enumerate(remembered.passages)],
    )
    return True


def vectors(sql: apsw.Connection, crumb: Breadcrumb, model: str) -> tuple[bytes, ...]:
    """Those of its passages in order; empty when any engine but `model` made them, or none has yet."""
    rows = list(sql.execute(_VECTORS, key_of(crumb)))
    return tuple(vector for vector, name in rows) if all(name == model for _, name in rows) else ()


def count_missing_vectors(sql: apsw.Connection) -> int:
    """How many are listed."""
    return int(next(sql.execute("SELECT count(*) FROM lacking"))[0])
