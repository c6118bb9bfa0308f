"""Erasures, pending stubs, progress on the stream, and editions, whose texts are stored once."""

import json
from datetime import datetime
from functools import lru_cache, partial
from hashlib import blake2b

from typing_extensions import override

from builder.adapters.sql import joins, revisions
from builder.adapters.sql.connection import Access, Connection, Cursor, Row
from builder.adapters.sql.derivation import ids_by_session, made_from
from builder.adapters.sql.rows import (
    BREADCRUMB_COLUMNS,
    BREADCRUMB_VALUES,
    HELD_COLUMNS,
    KEY,
    breadcrumbs,
    from_columns,
    key_of,
    to_columns,
    to_us,
)
from builder.domain.breadcrumb import NO_SESSION, ORIGIN, SUMMARY, Breadcrumb, Place
from builder.domain.edition import Edition
from builder.domain.erasure import Ended, erased
from builder.domain.errors import Unavailable
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import MAX_EDITIONS, Editions, PendingStubs, Progress

_NEWEST = "SELECT coalesce(max(number), 0) + 1 FROM editions"
_ADD = f"""
    INSERT INTO editions VALUES (?, ({_NEWEST}), ?, ?, ?) ON CONFLICT (id) DO UPDATE SET number = excluded.number
"""
_DROP = "DELETE FROM editions WHERE number NOT IN (SELECT number FROM editions ORDER BY number DESC LIMIT ?)"
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


class SqlBookkeeping(PendingStubs, Progress, Editions):
    """The part of the store that holds no breadcrumbs."""

    _connection: Connection

    def __init__(self) -> None:
        super().__init__()
        self._counted: set[Place] = set()
        """Where this process has begun an attempt that has not ended."""
        self._owed: set[Place] = set()
        """Attempts that could not be taken back, as on a full disk: the next one at the place does it."""

    @override
    async def add_edition(self, edition: Edition) -> None:
        await self._connection.run(lambda sql: _add(sql, edition))

    @override
    async def editions(self, templates: str) -> tuple[Edition, ...]:
        return await self._connection.run(lambda sql: _find(sql, templates), Access.READING)

    @override
    async def newest(self, schema: str, limit: int) -> tuple[Breadcrumb, ...]:
        return breadcrumbs(await self._connection.rows(_NEWEST_OF_SCHEMA, (schema, limit)))

    @override
    async def add_stub(self, subject: str) -> None:
        await self._connection.run(lambda sql: sql.execute("INSERT INTO stubs VALUES (?) ON CONFLICT DO NOTHING", (subject,)))

    @override
    async def pending_stubs(self) -> tuple[str, ...]:
        return tuple(subject for (subject,) in await self._connection.rows("SELECT subject FROM stubs ORDER BY 1"))

    @override
    async def remove_stub(self, subject: str) -> None:
        await self._connection.run(lambda sql: sql.execute("DELETE FROM stubs WHERE subject = ?", (subject,)))

    @override
    async def watermark(self, workspace: str, session: str) -> Place:
        text = "SELECT incarnation, sequence FROM watermarks WHERE workspace = ? AND session = ?"
        rows = await self._connection.rows(text, (workspace, session), workspace)
        return Place(*rows[0]) if rows else ORIGIN

    @override
    async def advance(self, workspace: str, session: str, place: Place) -> None:
        text = """
            INSERT INTO watermarks VALUES (?, ?, ?, ?) ON CONFLICT (workspace, session) DO UPDATE
            SET incarnation = excluded.incarnation, sequence = excluded.sequence
            WHERE (excluded.incarnation, excluded.sequence) > (watermarks.incarnation, watermarks.sequence)
        """
        await self._connection.run(lambda sql: sql.execute(text, (workspace, session, *place)), workspace=workspace)

    @override
    async def start_attempt(self, place: Place) -> int:
        text = (
            "INSERT INTO attempts VALUES (?, ?, 1) ON CONFLICT (incarnation, sequence) "
            "DO UPDATE SET count = attempts.count + 1 RETURNING count"
        )

        def work(sql: Cursor) -> int:
            if place in self._owed:
                _undo(sql, place)
            return int(next(sql.execute(text, place))[0])

        self._counted.discard(place)
        number = await self._connection.run(work)
        self._owed.discard(place)
        self._counted.add(place)
        return number

    @override
    async def undo_attempt(self, place: Place) -> None:
        is_counted = place in self._counted
        self._counted.discard(place)
        try:
            await self._connection.run(lambda sql: _undo(sql, place))
        except Unavailable:
            if is_counted:
                self._owed.add(place)
            raise

    @override
    async def clear_attempts(self, place: Place) -> None:
        self._counted.discard(place)
        await self._connection.run(lambda sql: sql.execute("DELETE FROM attempts WHERE (incarnation, sequence) = (?, ?)", place))
        self._owed.discard(place)


def _undo(sql: Cursor, place: Place) -> None:
    sql.execute("UPDATE attempts SET count = count - 1 WHERE incarnation = ? AND sequence = ?", place)
    sql.execute("DELETE FROM attempts WHERE incarnation = ? AND sequence = ? AND count < 1", place)


def _add(sql: Cursor, edition: Edition) -> None:
    layers = [{path: _hash(text) for path, text in layer.items()} for layer in edition.layers]
    texts = {_hash(text): text for layer in edition.layers for text in layer.values()}
    sql.lock("editions")  # else another worker may delete a text that only this edition uses
    sql.executemany("INSERT INTO edition_texts VALUES (?, ?) ON CONFLICT DO NOTHING", list(texts.items()))
    sql.execute(_ADD, (edition.id, edition.templates, json.dumps(dict(edition.profiles)), json.dumps(layers)))
    sql.execute(_DROP, (MAX_EDITIONS,))
    if sql.changes():
        used = {
            name
            for (layers,) in sql.execute("SELECT layers FROM editions")
            for layer in json.loads(layers)
            for name in layer.values()
        }
        stored = [name for (name,) in sql.execute("SELECT hash FROM edition_texts")]
        sql.executemany("DELETE FROM edition_texts WHERE hash = ?", [(name,) for name in stored if name not in used])


def _find(sql: Cursor, templates: str) -> tuple[Edition, ...]:
    text = lru_cache(None)(partial(_text, sql))  # editions share nearly all of their texts
    return tuple(
        Edition(
            templates=str(revision),
            profiles=json.loads(str(profiles)),
            layers=tuple({path: text(name) for path, name in layer.items()} for layer in json.loads(str(layers))),
        )
        for revision, profiles, layers in sql.execute(_FIND, (templates,))
    )


def _text(sql: Cursor, name: str) -> str:
    return str(next(sql.execute("SELECT text FROM edition_texts WHERE hash = ?", (name,)))[0])


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()


_ITSELF = f"""
    SELECT {HELD_COLUMNS} FROM breadcrumbs AS held INDEXED BY breadcrumbs_identity
    WHERE held.workspace = ? AND held.id = ? AND held.erased = '' AND held.removes IN ('', held.id) AND {{session}}
      AND (held.incarnation, held.sequence) < (?, ?)
"""
_SUMMARIES = """
    SELECT {columns} FROM breadcrumbs AS held INDEXED BY breadcrumbs_latest
    WHERE held.workspace = ? AND held.schema = ? AND held.erased = '' AND {session}
"""
_VERSION = "SELECT 1 FROM breadcrumbs INDEXED BY breadcrumbs_identity WHERE workspace = ? AND id = ? AND version = ?"
TRACES = f"""
    SELECT {BREADCRUMB_COLUMNS} FROM breadcrumbs WHERE workspace = ? AND erased = ? AND erased <> ''
    ORDER BY incarnation, sequence, session
"""
_TEXTS = " + ".join(
    f"octet_length(held.{name})" for name in ("tags", "body", "text", "calls", "pointers", "asked", "covers", "hints")
)
_SIZED = f"""
    {HELD_COLUMNS}, {_TEXTS}
      + coalesce((SELECT sum(octet_length(terms) + coalesce(octet_length(vector), 0)) FROM passages
                  WHERE (workspace, session, incarnation, sequence)
                      = (held.workspace, held.session, held.incarnation, held.sequence)), 0)
"""
_ENDED = f"""
    SELECT DISTINCT {_SIZED}
    FROM breadcrumbs AS over INDEXED BY breadcrumbs_expiry CROSS JOIN breadcrumbs AS held INDEXED BY breadcrumbs_identity
      ON held.workspace = over.workspace AND held.id = over.id AND held.session = over.session
    WHERE over.expires_us <= ? AND over.erased = '' AND held.erased = '' AND held.removes IN ('', held.id)
      AND (held.incarnation, held.sequence) <= (over.incarnation, over.sequence)
"""


def erase(sql: Cursor, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
    """`Eraser.erase`."""
    where, sessions = _within(session)
    itself = sql.execute(_ITSELF.format(session=where), (workspace, identity, *sessions, *until))
    matches = list(breadcrumbs(itself))
    summaries = sql.execute(_SUMMARIES.format(columns=HELD_COLUMNS, session=where), (workspace, SUMMARY, *sessions))
    matches += made_from(breadcrumbs(summaries), {identity})
    take(sql, [(crumb, identity) for crumb in matches])
    return tuple(sorted(matches, key=lambda crumb: (crumb.place, crumb.session)))


def ended(sql: Cursor, moment: datetime) -> tuple[Ended, ...]:
    """`Eraser.ended`."""
    over = [_ended(row) for row in sql.execute(_ENDED, (to_us(moment),))]
    matches = {key_of(item.breadcrumb): item for item in over}
    for (workspace, session), ids in ids_by_session(item.breadcrumb for item in over).items():
        where, sessions = _within(session)
        rows = sql.execute(_SUMMARIES.format(columns=_SIZED, session=where), (workspace, SUMMARY, *sessions))
        summaries = {key_of(item.breadcrumb): item for item in map(_ended, rows)}
        erased_crumbs = made_from((item.breadcrumb for item in summaries.values()), ids)
        matches |= {key_of(crumb): summaries[key_of(crumb)] for crumb in erased_crumbs}
    return tuple(
        sorted(matches.values(), key=lambda item: (item.breadcrumb.place, item.breadcrumb.session, item.breadcrumb.workspace))
    )


def purge(sql: Cursor, over: tuple[Ended, ...]) -> None:
    """`Eraser.purge`."""
    take(sql, [(item.breadcrumb, item.breadcrumb.id) for item in over])


def _within(session: str) -> tuple[str, tuple[str, ...]]:
    return ("held.session = ?", (session,)) if session != NO_SESSION else ("TRUE", ())


def _ended(row: Row) -> Ended:
    return Ended(breadcrumb=from_columns(row[:-1], (), "").breadcrumb, size=row[-1])


def leave(sql: Cursor, crumb: Breadcrumb) -> bool:
    """The trace of a breadcrumb that comes when its id is closed; False when its version is known."""
    if next(sql.execute(_VERSION, (crumb.workspace, crumb.id, crumb.version)), None):
        return False
    sql.insert("breadcrumbs", BREADCRUMB_COLUMNS, [(*_trace(crumb), crumb.id)])
    revisions.revise(sql, {key_of(crumb)[:2], *joins.note_joins(sql, crumb)})
    return True


def take(sql: Cursor, crumbs: list[tuple[Breadcrumb, str]]) -> None:
    """Leave traces of breadcrumbs, each with the id by whose end it goes."""
    update = f"UPDATE breadcrumbs SET ({BREADCRUMB_COLUMNS}) = ({BREADCRUMB_VALUES}) WHERE {KEY}"
    for crumb, reason in crumbs:
        key = key_of(crumb)
        sql.execute(update, (*_trace(crumb), reason, *key))
        for table in ("passages", "tags", "lacking"):
            sql.execute(f"DELETE FROM {table} WHERE {KEY}", key)
    sessions = {key_of(crumb)[:2] for crumb, _ in crumbs}
    revisions.revise(sql, sessions.union(*(joins.joined(sql, crumb) for crumb, _ in crumbs)))


def _trace(crumb: Breadcrumb) -> Row:
    """Its columns but the last one, the id by whose end it goes."""
    return to_columns(StoredBreadcrumb(breadcrumb=erased(crumb), passages=(), model="", fingerprint=b""))[:-1]
