"""Pending stubs, progress on the stream, and editions, whose texts are stored once."""

import json
from functools import lru_cache, partial
from hashlib import blake2b

import apsw
from typing_extensions import override

from builder.adapters.sqlite.connection import Connection
from builder.adapters.sqlite.rows import BREADCRUMB_COLUMNS, breadcrumbs
from builder.domain.breadcrumb import ORIGIN, Breadcrumb, Place
from builder.domain.edition import Edition
from builder.ports.store import MAX_EDITIONS, Editions, PendingStubs, Progress

_NEWEST = "SELECT coalesce(max(number), 0) + 1 FROM editions"
_ADD = f"""
    INSERT INTO editions VALUES (?, ({_NEWEST}), ?, ?, ?) ON CONFLICT (id) DO UPDATE SET number = excluded.number
"""
_DROP = "DELETE FROM editions WHERE number NOT IN (SELECT number FROM editions ORDER BY number DESC LIMIT ?)"
_DROP_TEXTS = """
    DELETE FROM edition_texts WHERE hash NOT IN (
        SELECT path.value FROM editions, json_each(layers) AS layer, json_each(layer.value) AS path
    )
"""
_FIND = "SELECT templates, profiles, layers FROM editions WHERE ? IN ('', templates) ORDER BY number DESC"
_NEWEST_OF_SCHEMA = f"""
    WITH RECURSIVE workspaces (name) AS (
        SELECT min(workspace) FROM breadcrumbs
        UNION ALL SELECT (SELECT min(workspace) FROM breadcrumbs WHERE workspace > name) FROM workspaces WHERE name IS NOT NULL
    ), places AS (
        SELECT workspace, session, incarnation, sequence
        FROM workspaces CROSS JOIN breadcrumbs INDEXED BY breadcrumbs_latest ON workspace = name AND schema = ?
        ORDER BY incarnation DESC, sequence DESC LIMIT ?
    )
    SELECT {BREADCRUMB_COLUMNS} FROM places CROSS JOIN breadcrumbs USING (workspace, session, incarnation, sequence)
    ORDER BY incarnation DESC, sequence DESC
"""


class SqliteBookkeeping(PendingStubs, Progress, Editions):
    """The part of the store that holds no breadcrumbs."""

    _connection: Connection

    @override
    async def add_edition(self, edition: Edition) -> None:
        await self._connection.run(lambda sql: _add(sql, edition))

    @override
    async def editions(self, templates: str) -> tuple[Edition, ...]:
        return await self._connection.read(lambda sql: _find(sql, templates))

    @override
    async def newest(self, schema: str, limit: int) -> tuple[Breadcrumb, ...]:
        return breadcrumbs(await self._connection.rows(_NEWEST_OF_SCHEMA, (schema, limit)))

    @override
    async def add_stub(self, subject: str) -> None:
        await self._connection.run(lambda sql: sql.execute("INSERT OR IGNORE INTO stubs VALUES (?)", (subject,)))

    @override
    async def pending_stubs(self) -> tuple[str, ...]:
        return tuple(subject for (subject,) in await self._connection.rows("SELECT * FROM stubs ORDER BY 1"))

    @override
    async def remove_stub(self, subject: str) -> None:
        await self._connection.run(lambda sql: sql.execute("DELETE FROM stubs WHERE subject = ?", (subject,)))

    @override
    async def watermark(self, workspace: str, session: str) -> Place:
        text = "SELECT incarnation, sequence FROM watermarks WHERE workspace = ? AND session = ?"
        rows = await self._connection.rows(text, (workspace, session))
        return Place(*rows[0]) if rows else ORIGIN

    @override
    async def advance(self, workspace: str, session: str, place: Place) -> None:
        text = """
            INSERT INTO watermarks VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
            SET incarnation = excluded.incarnation, sequence = excluded.sequence
            WHERE (excluded.incarnation, excluded.sequence) > (incarnation, sequence)
        """
        await self._connection.run(lambda sql: sql.execute(text, (workspace, session, *place)))

    @override
    async def start_attempt(self, place: Place) -> int:
        text = "INSERT INTO attempts VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count"
        return await self._connection.run(lambda sql: int(next(sql.execute(text, place))[0]))

    @override
    async def undo_attempt(self, place: Place) -> None:
        text = (
            "UPDATE attempts SET count = count - 1 WHERE incarnation = ? AND sequence = ?; "
            "DELETE FROM attempts WHERE incarnation = ? AND sequence = ? AND count < 1"
        )
        await self._connection.run(lambda sql: sql.execute(text, (*place, *place)))

    @override
    async def clear_attempts(self, place: Place) -> None:
        await self._connection.run(lambda sql: sql.execute("DELETE FROM attempts WHERE (incarnation, sequence) = (?, ?)", place))


def _add(sql: apsw.Connection, edition: Edition) -> None:
    layers = [{path: _hash(text) for path, text in layer.items()} for layer in edition.layers]
    texts = {_hash(text): text for layer in edition.layers for text in layer.values()}
    sql.executemany("INSERT OR IGNORE INTO edition_texts VALUES (?, ?)", texts.items())
    sql.execute(_ADD, (edition.id, edition.templates, json.dumps(dict(edition.profiles)), json.dumps(layers)))
    sql.execute(_DROP, (MAX_EDITIONS,))
    if sql.changes():
        sql.execute(_DROP_TEXTS)


def _find(sql: apsw.Connection, templates: str) -> tuple[Edition, ...]:
    text = lru_cache(None)(partial(_text, sql))  # editions share nearly all of their texts
    return tuple(
        Edition(
            templates=str(revision),
            profiles=json.loads(str(profiles)),
            layers=tuple({path: text(name) for path, name in layer.items()} for layer in json.loads(str(layers))),
        )
        for revision, profiles, layers in sql.execute(_FIND, (templates,)).fetchall()
    )


def _text(sql: apsw.Connection, name: str) -> str:
    return str(next(sql.execute("SELECT text FROM edition_texts WHERE hash = ?", (name,)))[0])


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
