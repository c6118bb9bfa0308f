"""Copies a store from one database to another, table by table in the order of their keys, so that a second run goes on."""

import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

from builder.adapters.sql.connection import Connection, Cursor, Row, Vector
from builder.adapters.sql.rows import BREADCRUMB_COLUMNS
from builder.domain.errors import Rejected

PAGE = 500
"""Rows of one transaction."""
_PLACE = "workspace, session, incarnation, sequence"


class _Table(NamedTuple):
    key: str
    values: str

    @property
    def columns(self) -> str:
        return f"{self.key}, {self.values}" if self.values else self.key


TABLES = {
    "models": _Table("number", "name"),
    "breadcrumbs": _Table(_PLACE, BREADCRUMB_COLUMNS.removeprefix(f"{_PLACE}, ")),
    "passages": _Table(f"{_PLACE}, ordinal", "start, stop, terms, tokens, traits, vector, model"),
    "tags": _Table("workspace, tag, session, incarnation, sequence", ""),
    "lacking": _Table("incarnation, sequence, workspace, session", ""),
    "calls": _Table("workspace, call, session", "incarnation, sequence"),
    "answers": _Table("workspace, incarnation, sequence", "id, call, joins"),
    "watermarks": _Table("workspace, session", "incarnation, sequence"),
    "revisions": _Table("workspace, session", "number"),
    "attempts": _Table("incarnation, sequence", "count"),
    "stubs": _Table("subject", ""),
    "edition_texts": _Table("hash", "text"),
    "editions": _Table("id", "number, templates, profiles, layers"),
}
"""Of both databases, with their columns, in the order in which they are filled."""


async def copy_store(source: Connection, target: Connection, progress: Callable[[int, int], None]) -> dict[str, int]:
    """Copy all tables, compare them, and return the rows of each. progress: (rows so far, rows in all).

    Raises `Rejected` if the target has other rows than the source, `Unavailable`.
    """
    counts = {name: await _count(source, name) for name in TABLES}
    done = 0
    for name, table in TABLES.items():
        done += await _count(target, name)
        async for rows in _pages(source, name, table, await _last_key(target, name, table)):
            await target.run(partial(_insert, name, table, rows))
            done += len(rows)
            progress(done, sum(counts.values()))
    for name, table in TABLES.items():
        if await _checksum(source, name, table) != await _checksum(target, name, table):
            raise Rejected(
                f"the copied table {name} differs from its source: one of the stores was written to meanwhile, or the target had "
                "rows of its own; stop every service of both, empty the target, and copy again"
            )
    return counts


def _insert(name: str, table: _Table, rows: list[Row], sql: Cursor) -> None:
    sql.insert(name, table.columns, rows)


async def _count(connection: Connection, name: str) -> int:
    ((number,),) = await connection.rows(f"SELECT count(*) FROM {name}")
    return int(number)


async def _last_key(connection: Connection, name: str, table: _Table) -> Row:
    order = ", ".join(f"{column} DESC" for column in table.key.split(", "))
    rows = await connection.rows(f"SELECT {table.key} FROM {name} ORDER BY {order} LIMIT 1")
    return rows[0] if rows else ()


async def _pages(connection: Connection, name: str, table: _Table, after: Row = ()) -> AsyncIterator[list[Row]]:
    columns = table.columns.split(", ")
    vector, keys = columns.index("vector") if "vector" in columns else None, len(table.key.split(", "))
    while True:
        values = ", ".join("?" * keys)
        where = f"WHERE ({table.key}) > ({values})" if after else ""
        text = f"SELECT {table.columns} FROM {name} {where} ORDER BY {table.key} LIMIT {PAGE}"
        rows = await connection.rows(text, after)
        if not rows:
            return
        after = rows[-1][:keys]
        yield rows if vector is None else [(*row[:vector], Vector(row[vector] or b""), *row[vector + 1 :]) for row in rows]


async def _checksum(connection: Connection, name: str, table: _Table) -> str:
    digest = blake2b(digest_size=16)
    async for rows in _pages(connection, name, table):
        for row in rows:
            digest.update(json.dumps(row, default=bytes.hex).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
