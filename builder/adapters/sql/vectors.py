"""Vectors of passages: those that are missing, and filling them in."""

from collections.abc import Iterator

from builder.adapters.sql.connection import Cursor, Row, Vector
from builder.adapters.sql.rows import BREADCRUMB_COLUMNS, KEY, key_of
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.stored import StoredBreadcrumb

_ADD_MODEL = "INSERT INTO models SELECT coalesce(max(number), 0) + 1, ? FROM models WHERE TRUE"
_OLDEST = f"""
    SELECT {BREADCRUMB_COLUMNS} FROM lacking CROSS JOIN breadcrumbs USING (workspace, session, incarnation, sequence)
    WHERE (incarnation, sequence, workspace, session) > (?, ?, ?, ?)
    ORDER BY incarnation, sequence, workspace, session LIMIT ?
"""
_VECTORS = f"SELECT vector, name FROM passages JOIN models ON number = model WHERE {KEY} ORDER BY ordinal"
_BEFORE_ALL = (-1, -1, "", "")


def oldest_missing(sql: Cursor, limit: int, after: Breadcrumb | None) -> Iterator[Row]:
    """BREADCRUMB_COLUMNS, oldest first. CROSS JOIN: SQLite walks the short list."""
    start = (*after.place, after.workspace, after.session) if after else _BEFORE_ALL
    return sql.execute(_OLDEST, (*start, limit))


def model_number(sql: Cursor, name: str) -> int:
    """The number of a model, new or known. No write where it is known: writers of one row wait for each other."""
    find = "SELECT number FROM models WHERE name = ?"
    if not list(sql.execute(find, (name,))):
        sql.execute(f"{_ADD_MODEL} ON CONFLICT (name) DO NOTHING", (name,))
    return int(next(sql.execute(find, (name,)))[0])


def fill_vectors(sql: Cursor, remembered: StoredBreadcrumb) -> bool:
    """Write vectors and model, once."""
    key = key_of(remembered.breadcrumb)
    sql.execute(f"DELETE FROM lacking WHERE {KEY}", key)
    if not sql.changes():
        return False
    model = model_number(sql, remembered.model)
    sql.executemany(
        f"UPDATE passages SET vector = ?, model = ? WHERE {KEY} AND ordinal = ?",
        [(Vector(passage.vector), model, *key, ordinal) for ordinal, passage in enumerate(remembered.passages)],
    )
    return True


def vectors(sql: Cursor, crumb: Breadcrumb, model: str) -> tuple[bytes, ...]:
    """Vectors of its passages in order; () unless all are by `model`."""
    rows = list(sql.execute(_VECTORS, key_of(crumb)))
    return tuple(vector or b"" for vector, name in rows) if all(name == model for _, name in rows) else ()
