"""An open store in one SQLite file. SQL selects rows, Python scores them."""

import heapq
from dataclasses import replace
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import Any

import apsw
from typing_extensions import override

from builder.adapters.sqlite import erasing, reading, scopes, sessionless
from builder.adapters.sqlite.connection import Connection, file_bytes, free_bytes
from builder.adapters.sqlite.editions import SqliteEditions
from builder.adapters.sqlite.rows import BREADCRUMB_COLUMNS, INSERT, REVISION, from_columns, key_of, passages_by_place, to_columns
from builder.domain.breadcrumb import ORIGIN, Breadcrumb, Place
from builder.domain.errors import Unavailable
from builder.domain.recall import Ended, Passage, Recall, RecallQuery, Scope, StoredBreadcrumb
from builder.ports.store import CallOrigin, CompleteStore

_INSERT_PASSAGE = "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SPAN = "(incarnation, sequence) > (?, ?) AND (incarnation, sequence) <= (?, ?)"
# Rows that were not erased, and the traces of results: their calls were answered.
_ROWS = (
    f"SELECT {BREADCRUMB_COLUMNS}, {sessionless.JOINS} FROM {{source}} "
    f"WHERE {{scope}} AND (erased = '' OR calls <> '[]') AND {_SPAN} "
    "ORDER BY incarnation, sequence, session LIMIT ?"
)
# The breadcrumbs come first, because only they have an index by place alone.
_PASSAGES = (
    "SELECT session, incarnation, sequence, start, stop, {facts}, tokens, traits, models.name "
    "FROM {source} CROSS JOIN passages USING (workspace, session, incarnation, sequence) JOIN models ON number = model "
    f"WHERE {{scope}} AND {_SPAN} ORDER BY incarnation, sequence, session, ordinal"
)
_BELOW = "(incarnation, sequence) < (?, ?)"
_COUNT = "SELECT count(*) FROM breadcrumbs WHERE erased = '' AND removes <> id"
_VERSION = f"SELECT {BREADCRUMB_COLUMNS} FROM breadcrumbs WHERE workspace = ? AND id = ? AND version = ?"


class SqliteStore(SqliteEditions, CompleteStore):
    """All ports of a store in one SQLite file. One writer at a time: a busy file is `Unavailable` after ten seconds."""

    def __init__(self, path: str) -> None:
        """path: a file or MEMORY. Raises `Misconfigured`."""
        self._path = path
        self._connection = Connection(path)

    def close(self) -> None:
        """Finish what runs and close the file."""
        self._connection.close()

    @override
    async def check(self) -> str:
        try:
            await self._connection.read(lambda sql: sql.execute("SELECT 1"))
        except Unavailable as error:
            return str(error)
        return self._connection.damage

    @property
    @override
    def refusal(self) -> str:
        return self._connection.refusal

    @override
    def size_bytes(self) -> int:
        return file_bytes(self._path)

    @override
    def free_bytes(self) -> int | None:
        return free_bytes(self._path)

    @override
    async def remember(self, remembered: StoredBreadcrumb) -> bool:
        return await self.remember_all((remembered,)) == 1

    @override
    async def remember_all(self, rows: tuple[StoredBreadcrumb, ...]) -> int:
        return await self._connection.run(lambda sql: sum(_remember(sql, row) for row in rows))

    @override
    async def facts(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb | None:
        def work(sql: apsw.Connection) -> StoredBreadcrumb | None:
            row = next(sql.execute(_VERSION, (breadcrumb.workspace, breadcrumb.id, breadcrumb.version)), None)
            return _with_passages(sql, row) if row else None

        return await self._connection.read(work)

    @override
    async def recall(self, query: RecallQuery) -> Recall:
        def work(sql: apsw.Connection) -> Recall:
            source, values, spans = scopes.source(sql, query)
            span = (*query.after, *query.until, query.limit)
            of_sessions = list(sql.execute(_ROWS.format(**source), (*values, *span)))
            of_none = sessionless.find(sql, query, spans.spans)
            rows = list(islice(heapq.merge(of_sessions, *of_none, key=itemgetter(2, 3, 1)), query.limit))
            within = (*values, *query.after, *(rows[-1][2:4] if rows else query.after))
            passages = passages_by_place(sql.execute(_PASSAGES.format(**source), within) if rows else (), query.model)
            recalled = (spans.marked(_recalled(sql, row, passages.get(row[1:4]), query.model)) for row in rows)
            end = Place(*rows[-1][2:4]) if len(rows) == query.limit else query.until
            openings = (
                replace(_recalled(sql, row, None, query.model), entry=entry)
                for entry, row in scopes.openings(sql, query.scope.workspace, spans.first_words, end)
            )
            return Recall(
                rows=tuple(sorted((*recalled, *openings), key=scopes.by_order)),
                pinned=tuple(
                    tuple(_with_its_passages(sql, row, query.model) for row in reading.find_pinned(sql, query, kind))
                    for kind in query.pinned
                ),
                revision=sessionless.revision(sql, *scopes.revised_with(query.scope)),
            )

        return await self._connection.read(work)

    @override
    async def places(self, workspace: str, session: str, after: Place, until: Place) -> frozenset[Place]:
        scope, values = scopes.condition(Scope(workspace=workspace, sessions=(session,)))
        text = f"SELECT incarnation, sequence FROM breadcrumbs WHERE {scope} AND {_SPAN}"
        span = (*values, *after, until.incarnation, until.sequence - 1)
        return await self._connection.read(lambda sql: frozenset(Place(*row) for row in sql.execute(text, span)))

    @override
    async def models(self) -> frozenset[str]:
        return await self._connection.read(lambda sql: frozenset(name for (name,) in sql.execute("SELECT name FROM models")))

    @override
    async def call_origins(self, incarnation: int) -> tuple[CallOrigin, ...]:
        text = "SELECT * FROM calls WHERE incarnation = ? ORDER BY workspace, call, session"
        return await self._connection.read(lambda sql: tuple(CallOrigin(*row) for row in sql.execute(text, (incarnation,))))

    @override
    async def add_call_origins(self, origins: tuple[CallOrigin, ...]) -> None:
        await self._connection.run(lambda sql: sessionless.revise(sql, sessionless.add_calls(sql, origins)))

    @override
    async def count(self) -> int:
        return await self._connection.read(lambda sql: int(next(sql.execute(_COUNT))[0]))

    @override
    async def count_outdated(self) -> int:
        return await self._connection.read(lambda sql: int(next(sql.execute(f"{_COUNT} AND facts_revision < {REVISION}"))[0]))

    @override
    async def count_before(self, place: Place) -> int:
        return await self._connection.read(lambda sql: int(next(sql.execute(f"{_COUNT} AND {_BELOW}", place))[0]))

    @override
    async def missing_vectors(self, limit: int, after: Breadcrumb | None = None) -> tuple[StoredBreadcrumb, ...]:
        return await self._connection.read(
            lambda sql: tuple(_with_passages(sql, row) for row in list(reading.oldest_missing(sql, limit, after)))
        )

    @override
    async def fill_vectors(self, remembered: StoredBreadcrumb) -> bool:
        return await self._connection.run(lambda sql: reading.fill_vectors(sql, remembered))

    @override
    async def count_missing_vectors(self) -> int:
        return await self._connection.read(reading.count_missing_vectors)

    @override
    async def chain(self, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
        return await self._connection.read(lambda sql: reading.chain(sql, workspace, identity, until, limit))

    @override
    async def versions(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        return await self._connection.read(lambda sql: reading.versions(sql, workspace, identity))

    @override
    async def list_session(
        self, workspace: str, session: str, span: tuple[Place, Place], limit: int, newest: bool
    ) -> tuple[Breadcrumb, ...]:
        return await self._connection.read(lambda sql: reading.list_session(sql, workspace, session, span, limit, newest))

    @override
    async def caller_session(self, answer: Breadcrumb) -> str:
        return await self._connection.read(lambda sql: sessionless.caller(sql, answer.workspace, answer.joins_by, answer.place))

    @override
    async def is_memory(self, workspace: str, session: str, user: str, until: Place) -> bool:
        return await self._connection.read(lambda sql: scopes.is_memory(sql, workspace, session, user, until))

    @override
    async def last_speaker(self, workspace: str, session: str, until: Place) -> str | None:
        return await self._connection.read(lambda sql: scopes.last_speaker(sql, workspace, session, until))

    @override
    async def sessions_of(self, workspace: str, user: str) -> tuple[str, ...]:
        return await self._connection.read(lambda sql: scopes.sessions_of(sql, workspace, user))

    @override
    async def vectors(self, breadcrumbs: tuple[Breadcrumb, ...], model: str) -> tuple[tuple[bytes, ...], ...]:
        return await self._connection.read(lambda sql: tuple(reading.vectors(sql, crumb, model) for crumb in breadcrumbs))

    @override
    async def erase(self, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
        crumbs = await self._connection.run(lambda sql: erasing.erase(sql, workspace, session, identity, until))
        await self._connection.flush()
        return crumbs

    @override
    async def traces(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        return await self._connection.read(lambda sql: erasing.traces(sql, workspace, identity))

    @override
    async def ended(self, moment: datetime) -> tuple[Ended, ...]:
        return await self._connection.read(lambda sql: erasing.ended(sql, moment))

    @override
    async def purge(self, ended: tuple[Ended, ...]) -> None:
        await self._connection.run(lambda sql: erasing.purge(sql, ended))
        await self._connection.flush()

    @override
    async def add_stub(self, subject: str) -> None:
        await self._connection.run(lambda sql: sql.execute("INSERT OR IGNORE INTO stubs VALUES (?)", (subject,)))

    @override
    async def pending_stubs(self) -> tuple[str, ...]:
        return await self._connection.read(lambda sql: tuple(name for (name,) in sql.execute("SELECT * FROM stubs ORDER BY 1")))

    @override
    async def remove_stub(self, subject: str) -> None:
        await self._connection.run(lambda sql: sql.execute("DELETE FROM stubs WHERE subject = ?", (subject,)))

    @override
    async def watermark(self, workspace: str, session: str) -> Place:
        text = "SELECT incarnation, sequence FROM watermarks WHERE workspace = ? AND session = ?"
        row = await self._connection.read(lambda sql: next(sql.execute(text, (workspace, session)), None))
        return Place(*row) if row else ORIGIN

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


def _remember(sql: apsw.Connection, remembered: StoredBreadcrumb) -> bool:
    sql.execute(INSERT, to_columns(remembered))
    if not sql.changes():
        return False
    (model,) = next(sql.execute(reading.MODEL, (remembered.model,)))
    key = key_of(remembered.breadcrumb)
    passages = [
        (*key, ordinal, item.start, item.end, item.terms, item.tokens, item.traits, item.vector, model)
        for ordinal, item in enumerate(remembered.passages)
    ]
    sql.executemany(_INSERT_PASSAGE, passages)
    reading.keep_tags(sql, key, remembered.breadcrumb.tags)
    sessionless.revise(sql, sessionless.note_joins(sql, remembered.breadcrumb))
    if not remembered.model:
        reading.note_missing(sql, remembered.breadcrumb)
    return True


def _with_passages(sql: apsw.Connection, row: tuple[Any, ...], model: str = "") -> StoredBreadcrumb:
    return _with_its_passages(sql, from_columns(row, (), ""), model)


def _with_its_passages(sql: apsw.Connection, bare: StoredBreadcrumb, model: str) -> StoredBreadcrumb:
    workspace, session, incarnation, sequence = key_of(bare.breadcrumb)
    scope, values = scopes.condition(Scope(workspace=workspace, sessions=(session,)))
    text = _PASSAGES.format(source="breadcrumbs", scope=scope, facts="terms, vector")
    rows = list(sql.execute(text, (*values, incarnation, sequence - 1, incarnation, sequence)))
    model = model or (rows[0][-1] if rows else "")
    passages = passages_by_place(iter(rows), model).get((session, incarnation, sequence), ())
    return replace(bare, passages=passages, model=model)


def _recalled(sql: apsw.Connection, row: tuple[Any, ...], passages: tuple[Passage, ...] | None, model: str) -> StoredBreadcrumb:
    """The noun of a row that has the column JOINS behind the others; its passages are read where they came with no other's."""
    noun = from_columns(row, passages, model) if passages is not None else _with_passages(sql, row, model)
    return replace(noun, joins=row[-1]) if row[-1] else noun
