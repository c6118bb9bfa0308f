"""Statements on PostgreSQL: placeholders, no hints for SQLite's planner, vectors, and NUL, which its texts cannot have."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np
from psycopg import Connection, RawCursor
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types.string import StrDumper
from typing_extensions import override

from builder.adapters.sql.connection import Cursor, Row, Vector

COPIED_ROWS = 256
"""From so many rows on a COPY is quicker than statements."""
_COPIES = "CREATE TEMP TABLE IF NOT EXISTS copied_{table} ON COMMIT DELETE ROWS AS SELECT {columns} FROM {table} WITH NO DATA"
_HINT = re.compile(r"INDEXED BY \w+|CROSS (?=JOIN)")
_VALUE = re.compile(r"\?(\d*)")
_ESCAPE = "\U0010fffe"
_ESCAPES = str.maketrans({"\x00": f"{_ESCAPE}0", _ESCAPE: f"{_ESCAPE}1"})
_ESCAPED = re.compile(f"{_ESCAPE}([01])")


class PostgresCursor(Cursor):
    """Statements on a connection of which `adapt` was called."""

    def __init__(self, connection: Connection) -> None:
        self._cursor = RawCursor(connection)

    @override
    def execute(self, text: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        self._cursor.execute(translation(text), values, binary=True)
        return iter([_unescaped(row) for row in self._cursor.fetchall()] if self._cursor.description else ())

    @override
    def executemany(self, text: str, rows: Sequence[Sequence[Any]]) -> None:
        if len(rows) == 1:  # without the round trip of a pipeline's end
            self._cursor.execute(translation(text), rows[0], binary=True)
        elif rows:
            self._cursor.executemany(translation(text), rows)

    @override
    def insert(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        if len(rows) < COPIED_ROWS:
            super().insert(table, columns, rows)
            return
        # A table with policies takes no COPY.
        self.execute(_COPIES.format(table=table, columns=columns))
        with self._cursor.copy(f"COPY copied_{table} ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        self.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM copied_{table}")

    @override
    def changes(self) -> int:
        return self._cursor.rowcount

    @override
    def lock(self, name: str) -> None:
        self.execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 2))", (name,))  # 0 and 1: of schemas


@lru_cache(maxsize=512)
def translation(text: str) -> str:
    """The statement as PostgreSQL reads it."""
    numbers = count(1)
    return _VALUE.sub(lambda match: f"${match[1] or next(numbers)}", _HINT.sub("", text))


def adapt(connection: Connection) -> None:
    """Teach a connection our values. Raises psycopg's errors, when the database lacks pgvector, too."""
    (kind,) = connection.execute("SELECT 'halfvec'::regtype::oid").fetchone() or (0,)
    adapters = connection.adapters
    adapters.register_dumper(str, _TextDumper)
    adapters.register_dumper(Vector, type("VectorDumper", (_VectorDumper,), {"oid": kind}))
    adapters.register_dumper(Vector, type("VectorTextDumper", (_VectorTextDumper,), {"oid": kind}))
    adapters.register_loader(kind, _VectorLoader)


class _TextDumper(StrDumper):
    @override
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.translate(_ESCAPES) if "\x00" in obj or _ESCAPE in obj else obj)


class _VectorDumper(Dumper):
    format = Format.BINARY

    @override
    def dump(self, obj: Vector) -> Buffer | None:
        values = np.frombuffer(obj, "<f2")
        return len(values).to_bytes(2, "big") + b"\0\0" + values.astype(">f2").tobytes() if obj else None


class _VectorTextDumper(Dumper):
    @override
    def dump(self, obj: Vector) -> Buffer | None:
        values = np.frombuffer(obj, "<f2")
        return f"[{','.join(map(str, values.tolist()))}]".encode() if obj else None


class _VectorLoader(Loader):
    format = Format.BINARY

    @override
    def load(self, data: Buffer) -> bytes:
        return np.frombuffer(data, ">f2", offset=4).astype("<f2").tobytes()


def _unescaped(row: Row) -> Row:
    if not any(type(value) is str and _ESCAPE in value for value in row):
        return row
    return tuple(
        _ESCAPED.sub(lambda match: "\x00" if match[1] == "0" else _ESCAPE, value) if type(value) is str else value
        for value in row
    )
