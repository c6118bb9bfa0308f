"""Copies a store from one database to another, table by table in the order of their keys, so that a second run goes on."""

import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

from builder.adapters.sql.connection import Connection, Cursor, Row, Vector
from builder.adapters.sql.rows import BREADCRUMB_COLUMNS
from builder.domain.errors import Misconfigured, Rejected

PAGE = 500
"""Rows of one transaction."""
_PLACE = "workspace, session, incarnation, sequence"

_MARK = "workspace = '' AND session = 'copying'"
"""The row of the ledger that is there while a store is a copy that is not whole."""


class _Table(NamedTuple):
    key: str
    values: str
    where: str = "TRUE"
    """Condition of the rows that are copied."""

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
    "watermarks": _Table("workspace, session", "incarnation, sequence", f"NOT ({_MARK})"),
    "revisions": _Table("workspace, session", "number"),
    "attempts": _Table("incarnation, sequence", "count"),
    "stubs": _Table("subject", ""),
    "edition_texts": _Table("hash", "text"),
    "editions": _Table("id", "number, templates, profiles, layers"),
}
"""The tables of both databases with their columns, in the order in which they are filled."""


async def refuse_unfinished(connection: Connection, name: str) -> None:
    """Raises `Misconfigured` for a copy that is not whole. name: of the store."""
    if await _is_unfinished(connection):
        raise Misconfigured(
            f"{name} is a copy that is not whole; run `context-builder migrate-store FROM TO` again, with this store as TO, "
            "or set CONTEXT_BUILDER_STORE__URL to the store that it is made from"
        )


async def copy_store(source: Connection, target: Connection, progress: Callable[[int, int], None]) -> dict[str, int]:
    """Copy all tables, compare them, and return the rows of each. progress: (rows so far, rows in all).

    The target is marked as not whole until they are equal. A second run goes on; where the source has changed since, it copies
    all anew. Raises `Rejected`, before it writes anything, if the target has rows of its own or the source is no whole copy,
    `Unavailable`.
    """
    if await _is_unfinished(source):
        raise Rejected("the source is a copy that is not whole; copy it whole first, or name the store that it is made from")
    if not await _is_unfinished(target):
        await _check_target(source, target)
        await target.run(lambda sql: sql.execute("INSERT INTO watermarks VALUES ('', 'copying', 1, 1)"))
    counts = await _copy(source, target, progress)
    if await _difference(source, target):
        await target.run(partial(_empty, (*TABLES, *target.derived)))  # all of it comes from an earlier state of the source
        counts = await _copy(source, target, progress)
    if name := await _difference(source, target):
        raise Rejected(
            f"the copied table {name} differs from its source, which was written to meanwhile; stop every service of both "
            "stores, and copy again"
        )
    await target.run(lambda sql: sql.execute(f"DELETE FROM watermarks WHERE {_MARK}"))
    return counts


async def _is_unfinished(connection: Connection) -> bool:
    return bool(await connection.rows(f"SELECT 1 FROM watermarks WHERE {_MARK}"))


async def _check_target(source: Connection, target: Connection) -> None:
    """Raises `Rejected` for rows that are not the first ones of the source."""
    for name, table in TABLES.items():
        last = await _last_key(target, name, table)
        if last and await _checksum(source, name, table, last) != await _checksum(target, name, table, last):
            raise Rejected(
                f"the target has rows of its own in {name}: a service used it, or an earlier release's copy was cut off; nothing "
                "was copied; name an empty one, or remove this one if nobody needs it"
            )


async def _copy(source: Connection, target: Connection, progress: Callable[[int, int], None]) -> dict[str, int]:
    counts = {name: await _count(source, name, table) for name, table in TABLES.items()}
    done = 0
    for name, table in TABLES.items():
        done += await _count(target, name, table)
        async for rows in _pages(source, name, table, await _last_key(target, name, table)):
            await target.run(partial(_insert, name, table, rows))
            done += len(rows)
            progress(done, sum(counts.values()))
    return counts


async def _difference(source: Connection, target: Connection) -> str:
    """The first table that is not the same in both; "" = none."""
    for name, table in TABLES.items():
        if await _checksum(source, name, table) != await _checksum(target, name, table):
            return name
    return ""


def _empty(names: tuple[str, ...], sql: Cursor) -> None:
    for name in reversed(names):
        sql.execute(f"DELETE FROM {name} WHERE {TABLES[name].where if name in TABLES else True}")


def _insert(name: str, table: _Table, rows: list[Row], sql: Cursor) -> None:
    sql.insert(name, table.columns, rows)


async def _count(connection: Connection, name: str, table: _Table) -> int:
    ((number,),) = await connection.rows(f"SELECT count(*) FROM {name} WHERE {table.where}")
    return int(number)


async def _last_key(connection: Connection, name: str, table: _Table) -> Row:
    order = ", ".join(f"{column} DESC" for column in table.key.split(", "))
    rows = await connection.rows(f"SELECT {table.key} FROM {name} WHERE {table.where} ORDER BY {order} LIMIT 1")
    return rows[0] if rows else ()


async def _pages(connection: Connection, name: str, table: _Table, after: Row = ()) -> AsyncIterator[list[Row]]:
    columns = table.columns.split(", ")
    vector, keys = columns.index("vector") if "vector" in columns else None, len(table.key.split(", "))
    while True:
        values = ", ".join("?" * keys)
        where = f"{table.where} AND ({table.key}) > ({values})" if after else table.where
        text = f"SELECT {table.columns} FROM {name} WHERE {where} ORDER BY {table.key} LIMIT {PAGE}"
        rows = await connection.rows(text, after)
        if not rows:
            return
        after = rows[-1][:keys]
        yield rows if vector is None else [(*row[:vector], Vector(row[vector] or b""), *row[vector + 1 :]) for row in rows]


async def _checksum(connection: Connection, name: str, table: _Table, last: Row = ()) -> str:
    """last: the key of the last row that counts; () = all do."""
    digest, keys = blake2b(digest_size=16), len(last)
    async for rows in _pages(connection, name, table):
        for row in rows:
            digest.update(json.dumps(row, default=bytes.hex).encode("utf-8", "surrogatepass"))
            if last and row[:keys] == last:
                return digest.hexdigest()
    return digest.hexdigest()
