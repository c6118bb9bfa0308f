"""A store in a database: SQL selects rows, Python scores them."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from operator import itemgetter
from typing import Any

from typing_extensions import override

from builder.adapters.sql import identities, joins, pinned, reading, revisions, scopes, vectors
from builder.adapters.sql.bookkeeping import SqlBookkeeping
from builder.adapters.sql.connection import EVERY_WORKSPACE, Access, Connection, Cursor, Row, Vector
from builder.adapters.sql.erasing import SqlEraser
from builder.adapters.sql.rows import (
    BREADCRUMB_COLUMNS,
    REVISION,
    breadcrumbs,
    indexed,
    joined_row,
    key_of,
    passages_by_place,
    to_columns,
    with_its_passages,
    with_passages,
)
from builder.adapters.sql.workspace import SqlWorkspaceReader
from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.identity import Identity
from builder.domain.recall import Recall, RecallQuery, Scope
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import CallOrigin, CompleteStore

_PASSAGE_COLUMNS = "workspace, session, incarnation, sequence, ordinal, start, stop, terms, tokens, traits, vector, model"
# A join, because PostgreSQL walks the whole workspace for each list of rows that a condition names.
_IDENTICAL = (
    "SELECT workspace, id, version FROM (VALUES {identities}) AS names CROSS JOIN breadcrumbs INDEXED BY breadcrumbs_identity "
    "ON workspace = column1 AND id = column2 AND version = column3"
)
_IDENTITIES = 100
# Rows that were not erased, and the traces of results: their calls were answered.
_ROWS = (
    f"SELECT {BREADCRUMB_COLUMNS}, {joins.JOINS} FROM {{source}} "
    "WHERE {scope} AND (erased = '' OR calls <> '[]') AND {span} "
    "ORDER BY {first}, sequence, session LIMIT ?"
)
# The breadcrumbs come first, because only they have an index by place alone.
_PASSAGES = (
    "SELECT session, incarnation, sequence, start, stop, {facts}, tokens, traits, models.name "
    "FROM {source} CROSS JOIN passages USING (workspace, session, incarnation, sequence) JOIN models ON number = model "
    "WHERE {scope} AND {span} ORDER BY {first}, sequence, session, ordinal"
)
_BELOW = "(incarnation, sequence) < (?, ?)"
_COUNT = "SELECT count(*) FROM breadcrumbs WHERE erased = '' AND removes <> id"
_VERSION = f"SELECT {BREADCRUMB_COLUMNS} FROM breadcrumbs WHERE workspace = ? AND id = ? AND version = ?"


class SqlStore(SqlBookkeeping, SqlEraser, SqlWorkspaceReader, CompleteStore):
    """A store in one database."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    @property
    def connection(self) -> Connection:
        """To its database."""
        return self._connection

    def close(self) -> None:
        """Finish what runs and close the database."""
        self._connection.close()

    @override
    async def check(self) -> str:
        return await self._connection.check()

    @property
    @override
    def refusal(self) -> str:
        return self._connection.refusal

    @override
    def size_bytes(self) -> int:
        return self._connection.size_bytes()

    @override
    def free_bytes(self) -> int | None:
        return self._connection.free_bytes()

    @override
    async def remember(self, remembered: StoredBreadcrumb) -> bool:
        crumb = remembered.breadcrumb

        def work(sql: Cursor) -> bool:
            is_admitted = identities.admits(sql, crumb)
            is_new = is_admitted and _remember(sql, (remembered,)) == 1
            return is_new or (is_admitted and identities.displace(sql, crumb) and _remember(sql, (remembered,)) == 1)

        return await self._connection.run(work, workspace=crumb.workspace)

    @override
    async def identities(self, workspace: str, ids: tuple[str, ...]) -> dict[str, Identity]:
        def work(sql: Cursor) -> dict[str, Identity]:
            return {name: identities.identity(sql, workspace, name) for name in ids}

        return await self._connection.run(work, Access.READING, workspace)

    @override
    async def remember_all(self, rows: tuple[StoredBreadcrumb, ...]) -> int:
        return await self._connection.run(lambda sql: _remember(sql, rows))

    @override
    async def facts(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb | None:
        def work(sql: Cursor) -> StoredBreadcrumb | None:
            row = next(sql.execute(_VERSION, (breadcrumb.workspace, breadcrumb.id, breadcrumb.version)), None)
            return with_passages(sql, row) if row else None

        return await self._connection.run(work, Access.READING, breadcrumb.workspace)

    @override
    async def recall(self, query: RecallQuery) -> Recall:
        def work(sql: Cursor) -> Recall:
            source, values, spans = scopes.source(sql, query)
            span = (*query.after, *query.until, query.limit)
            of_sessions = list(sql.execute(_ROWS.format(**source), (*values, *span)))
            of_none = joins.find_sessionless(sql, query, spans.spans)
            rows = list(islice(heapq.merge(of_sessions, *of_none, key=itemgetter(2, 3, 1)), query.limit))
            within = (*values, *query.after, *(rows[-1][2:4] if rows else query.after))
            facts = passages_by_place(sql.execute(_PASSAGES.format(**source), within) if rows else (), query.model)
            recalled = (spans.marked(joined_row(sql, row, facts.get(row[1:4]), query.model)) for row in rows)
            end = Place(*rows[-1][2:4]) if len(rows) == query.limit else query.until
            openings = (
                replace(joined_row(sql, row, None, query.model), entry=entry)
                for entry, row in scopes.openings(sql, query.scope.workspace, spans.first_words, end)
            )
            return Recall(
                rows=tuple(sorted((*recalled, *openings), key=scopes.by_order)),
                pinned=tuple(
                    tuple(with_its_passages(sql, row, query.model) for row in pinned.find_pinned(sql, query, kind))
                    for kind in query.pinned
                ),
                revision=revisions.revision(sql, *scopes.revised_with(query.scope)),
            )

        return await self._connection.run(work, Access.READING, query.scope.workspace)

    @override
    async def places(self, workspace: str, session: str, after: Place, until: Place) -> frozenset[Place]:
        scope, values = scopes.condition(Scope(workspace=workspace, sessions=(session,)))
        text = f"SELECT incarnation, sequence FROM breadcrumbs WHERE {scope} AND {scopes.SPAN}"
        span = (*values, *after, until.incarnation, until.sequence - 1)
        return frozenset(Place(*row) for row in await self._connection.rows(text, span, workspace))

    @override
    async def models(self) -> frozenset[str]:
        return frozenset(name for (name,) in await self._connection.rows("SELECT name FROM models"))

    @override
    async def call_origins(self, incarnation: int) -> tuple[CallOrigin, ...]:
        text = f"SELECT {', '.join(CallOrigin._fields)} FROM calls WHERE incarnation = ? ORDER BY workspace, call, session"
        return tuple(CallOrigin(*row) for row in await self._connection.rows(text, (incarnation,)))

    @override
    async def add_call_origins(self, origins: tuple[CallOrigin, ...]) -> None:
        await self._connection.run(lambda sql: revisions.revise(sql, joins.add_calls(sql, origins)))

    @override
    async def count(self) -> int:
        return await self._count(_COUNT)

    @override
    async def count_outdated(self) -> int:
        return await self._count(f"{_COUNT} AND facts_revision < {REVISION}")

    @override
    async def count_before(self, place: Place) -> int:
        return await self._count(f"{_COUNT} AND {_BELOW}", place)

    async def _count(self, text: str, values: Sequence[Any] = ()) -> int:
        ((number,),) = await self._connection.rows(text, values)
        return int(number)

    @override
    async def missing_vectors(self, limit: int, after: Breadcrumb | None = None) -> tuple[StoredBreadcrumb, ...]:
        return await self._connection.run(
            lambda sql: tuple(with_passages(sql, row) for row in list(vectors.oldest_missing(sql, limit, after))),
            Access.READING,
        )

    @override
    async def fill_vectors(self, remembered: StoredBreadcrumb) -> bool:
        return await self._connection.run(
            lambda sql: vectors.fill_vectors(sql, remembered), workspace=remembered.breadcrumb.workspace
        )

    @override
    async def count_missing_vectors(self) -> int:
        return await self._count("SELECT count(*) FROM lacking")

    @override
    async def chain(self, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
        link = workspace, identity, until, limit
        return await self._connection.run(lambda sql: reading.chain(sql, *link), Access.READING, workspace)

    @override
    async def versions(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        return breadcrumbs(await self._connection.rows(reading.VERSIONS, (workspace, identity, NO_SESSION), workspace))

    @override
    async def list_session(
        self, workspace: str, session: str, span: tuple[Place, Place], limit: int, newest: bool
    ) -> tuple[Breadcrumb, ...]:
        text = reading.SESSION.format(order="DESC" if newest else "ASC")
        values = (workspace, session, *span[0], *span[1], NO_SESSION, NO_SESSION, limit)
        return breadcrumbs(await self._connection.rows(text, values, workspace))

    @override
    async def caller_session(self, answer: Breadcrumb) -> str:
        call = answer.workspace, answer.joins_by, answer.place
        return await self._connection.run(lambda sql: joins.caller(sql, *call), Access.READING, answer.workspace)

    @override
    async def is_memory(self, workspace: str, session: str, user: str, until: Place) -> bool:
        person = workspace, session, user, until
        return await self._connection.run(lambda sql: scopes.is_memory(sql, *person), Access.READING, workspace)

    @override
    async def first_speaker(self, workspace: str, session: str, until: Place) -> str | None:
        return await self._speaker("ASC", workspace, session, until)

    @override
    async def last_speaker(self, workspace: str, session: str, until: Place) -> str | None:
        return await self._speaker("DESC", workspace, session, until)

    async def _speaker(self, order: str, workspace: str, session: str, until: Place) -> str | None:
        rows = await self._connection.rows(scopes.PERSON.format(order=order), (workspace, session, *until), workspace)
        return rows[0][0] if rows else None

    @override
    async def latest(self, workspace: str, until: Place, limit: int) -> tuple[Breadcrumb, ...]:
        return breadcrumbs(await self._connection.rows(reading.LATEST, (workspace, NO_SESSION, *until, limit), workspace))

    @override
    async def sessions_of(self, workspace: str, user: str) -> tuple[str, ...]:
        return tuple(session for (session,) in await self._connection.rows(scopes.NAMES_QUERY, (workspace, user), workspace))

    @override
    async def vectors(self, breadcrumbs: tuple[Breadcrumb, ...], model: str) -> tuple[tuple[bytes, ...], ...]:
        def work(sql: Cursor) -> tuple[tuple[bytes, ...], ...]:
            return tuple(vectors.vectors(sql, crumb, model) for crumb in breadcrumbs)

        workspaces = {crumb.workspace for crumb in breadcrumbs}
        return await self._connection.run(work, Access.READING, workspaces.pop() if len(workspaces) == 1 else EVERY_WORKSPACE)


def _remember(sql: Cursor, rows: Sequence[StoredBreadcrumb]) -> int:
    new = _unknown(sql, rows)
    numbers = {name: vectors.model_number(sql, name) for name in dict.fromkeys(row.model for row in new)}
    passage_rows, tags, lacking = list[Row](), list[Row](), list[Row]()
    for row in new:
        workspace, *place = key = key_of(row.breadcrumb)
        passage_rows += _passage_rows(row, numbers[row.model])
        tags += ((workspace, tag, *place) for tag in dict.fromkeys(map(indexed, row.breadcrumb.tags)))
        if not row.model:
            lacking.append(key)
    sql.insert("breadcrumbs", BREADCRUMB_COLUMNS, [to_columns(row) for row in new])
    sql.insert("passages", _PASSAGE_COLUMNS, passage_rows)
    sql.insert("tags", "workspace, tag, session, incarnation, sequence", tags)
    sql.insert("lacking", "workspace, session, incarnation, sequence", lacking)
    for row in new:
        revisions.revise(sql, joins.note_joins(sql, row.breadcrumb))
    return len(new)


def _unknown(sql: Cursor, rows: Sequence[StoredBreadcrumb]) -> list[StoredBreadcrumb]:
    """The first row of each version that the store does not have."""
    first = {(row.breadcrumb.workspace, row.breadcrumb.id, row.breadcrumb.version): row for row in reversed(rows)}
    identities = list(first)
    for start in range(0, len(identities), _IDENTITIES):
        part = identities[start : start + _IDENTITIES]
        text = _IDENTICAL.format(identities=", ".join(["(?, ?, ?)"] * len(part)))
        for identity in sql.execute(text, list(chain.from_iterable(part))):
            del first[identity]
    return [first[key] for key in reversed(identities) if key in first]


def _passage_rows(row: StoredBreadcrumb, model: int) -> Iterator[Row]:
    key = key_of(row.breadcrumb)
    for ordinal, item in enumerate(row.passages):
        yield (*key, ordinal, item.start, item.end, item.terms, item.tokens, item.traits, Vector(item.vector), model)
