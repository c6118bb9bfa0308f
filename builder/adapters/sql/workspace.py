"""Parts of a workspace that is too large to be read whole: facts of passages by place, and stretches of sessions."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from typing_extensions import override

from builder.adapters.sql import joins, scopes
from builder.adapters.sql.connection import Access, Connection, Cursor, Row
from builder.adapters.sql.rows import BREADCRUMB_COLUMNS, HELD_COLUMNS, joined_row, passages_by_place
from builder.domain.breadcrumb import NO_SESSION, Place
from builder.domain.recall import Scope
from builder.domain.stored import PassageFacts, StoredBreadcrumb
from builder.ports.store import WorkspaceReader

_OUTGROWS = """
    SELECT 1 FROM breadcrumbs INDEXED BY breadcrumbs_places
    WHERE workspace = ? AND (incarnation, sequence) < (?, ?) LIMIT 1 OFFSET ?
"""
# Two statements, because PostgreSQL sorts all that is left of the span for one that joins and has a limit.
_LAST_OF_PAGE = f"""
    SELECT incarnation, sequence FROM breadcrumbs
    WHERE {{scope}} AND {scopes.SPAN} ORDER BY incarnation, sequence LIMIT 1 OFFSET ?
"""
_PASSAGES = f"""
    SELECT breadcrumbs.session, breadcrumbs.incarnation, breadcrumbs.sequence, ordinal, schema, terms,
        CASE WHEN models.name = ? THEN vector END
    FROM breadcrumbs CROSS JOIN passages USING (workspace, session, incarnation, sequence) CROSS JOIN models ON number = model
    WHERE {{scope}} AND {scopes.SPAN} ORDER BY incarnation, sequence, session, ordinal
"""
# Neighbours of one incarnation alone: so SQLite goes to them directly.
_NEIGHBOURS = """
    SELECT {end}(sequence) FROM (
        SELECT sequence FROM breadcrumbs WHERE workspace = ?1 AND session = part AND incarnation = part_incarnation
          AND sequence {than} part_sequence AND (incarnation, sequence) <= (?4, ?5) ORDER BY sequence {order} LIMIT ?2
    ) AS beside
"""
_SPANS_OF_PLACES = f"""
    SELECT part, part_incarnation, coalesce(({_NEIGHBOURS.format(end="min", than="<", order="DESC")}), part_sequence),
        coalesce(({_NEIGHBOURS.format(end="max", than=">", order="ASC")}), part_sequence)
    FROM {joins.PARTS.replace("?", "?3")}
"""
_SPANS = """
    (SELECT value ->> 0 AS part, CAST(value ->> 1 AS BIGINT) AS part_incarnation, CAST(value ->> 2 AS BIGINT) AS low,
        CAST(value ->> 3 AS BIGINT) AS high FROM json_each(CAST(?1 AS TEXT)) LIMIT 1000000000) AS spans
    CROSS JOIN breadcrumbs ON session = part AND incarnation = part_incarnation AND sequence >= low AND sequence <= high
"""
_ROWS = f"""
    SELECT {BREADCRUMB_COLUMNS}, {joins.JOINS} FROM {_SPANS} WHERE workspace = ?2 AND (erased = '' OR calls <> '[]')
"""
_THEIR_PASSAGES = f"""
    SELECT session, incarnation, sequence, start, stop, terms, vector, tokens, traits, models.name
    FROM {_SPANS} CROSS JOIN passages USING (workspace, session, incarnation, sequence) CROSS JOIN models ON number = model
    WHERE workspace = ?2 ORDER BY incarnation, sequence, session, ordinal
"""
_LATER = f"""
    SELECT {HELD_COLUMNS}, '' FROM (VALUES {{versions}}) AS names CROSS JOIN breadcrumbs AS held INDEXED BY {{index}}
      ON held.workspace = column1 AND {{is_later}}
    WHERE (held.session = column2) IS TRUE AND held.erased = '' AND (+held.incarnation, held.sequence) <= (?, ?)
"""
# Workspaces in the rows, IS TRUE and a plus, because PostgreSQL would look for each row through the workspace or its session.
_IS_LATER = {
    "breadcrumbs_identity": "held.id = column3 AND held.version > column4",
    "breadcrumbs_tombstones": "held.removes = column3 AND held.removes <> ''",
}
_VERSIONS = 100

Span = tuple[str, int, int, int]
"""Session, incarnation, first and last sequence."""


class SqlWorkspaceReader(WorkspaceReader):
    """The part of the store that reads large workspaces."""

    _connection: Connection

    @override
    async def outgrows(self, workspace: str, rows: int, until: Place) -> bool:
        return bool(await self._connection.rows(_OUTGROWS, (workspace, *until, rows), workspace))

    @override
    async def passages(
        self, workspace: str, session: str, span: tuple[Place, Place], limit: int, model: str
    ) -> tuple[tuple[PassageFacts, ...], Place]:
        scope, values = scopes.condition(Scope(workspace=workspace, sessions=(session,)))

        def work(sql: Cursor) -> tuple[tuple[PassageFacts, ...], Place]:
            last = next(sql.execute(_LAST_OF_PAGE.format(scope=scope), (*values, *span[0], *span[1], limit - 1)), None)
            end = Place(*last) if last else span[1]
            rows = sql.execute(_PASSAGES.format(scope=scope), (model, *values, *span[0], *end))
            facts = (
                PassageFacts(of, Place(incarnation, sequence), ordinal, schema, terms, vector or b"")
                for of, incarnation, sequence, ordinal, schema, terms, vector in rows
            )
            return tuple(facts), end

        return await self._connection.run(work, Access.READING, workspace)

    @override
    async def revisions(self, workspace: str) -> Mapping[str, int]:
        text = "SELECT session, number FROM revisions WHERE workspace = ?"
        return dict(await self._connection.rows(text, (workspace,), workspace))

    @override
    async def stretches(
        self, workspace: str, places: Mapping[str, frozenset[Place]], reach: int, until: Place, model: str
    ) -> tuple[StoredBreadcrumb, ...]:
        parts = json.dumps([(session, *place) for session in sorted(places) for place in sorted(places[session])])

        def work(sql: Cursor) -> tuple[StoredBreadcrumb, ...]:
            spans = _merged(sql.execute(_SPANS_OF_PLACES, (workspace, reach, parts, *until)))
            rows = list(sql.execute(_ROWS, (json.dumps(spans), workspace)))
            facts = passages_by_place(sql.execute(_THEIR_PASSAGES, (json.dumps(spans), workspace)), model)
            rows += list(_later(sql, workspace, rows, until))
            first = {row[1:4]: row for row in reversed(rows)}
            return tuple(joined_row(sql, row, facts.get(key), model) for key, row in first.items())

        return await self._connection.run(work, Access.READING, workspace)


def _later(sql: Cursor, workspace: str, rows: list[Row], until: Place) -> Iterator[Row]:
    """Higher versions and tombstones of rows, in the session of each or in none, up to a place."""
    versions = [(workspace, session, *row[4:6]) for row in rows for session in dict.fromkeys((row[1], NO_SESSION))]
    for start in range(0, len(versions), _VERSIONS):
        part = versions[start : start + _VERSIONS]
        for index, is_later in _IS_LATER.items():
            text = _LATER.format(versions=", ".join(["(?, ?, ?, ?)"] * len(part)), index=index, is_later=is_later)
            yield from sql.execute(text, (*chain.from_iterable(part), *until))


def _merged(spans: Iterable[Row]) -> list[Span]:
    """Those of a session that overlap as one."""
    merged: list[Span] = []
    for session, incarnation, low, high in sorted(spans):
        if merged and merged[-1][:2] == (session, incarnation) and low <= merged[-1][3]:
            merged[-1] = *merged[-1][:3], max(high, merged[-1][3])
        else:
            merged.append((session, incarnation, low, high))
    return merged
