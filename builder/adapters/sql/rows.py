"""Nouns ⇄ columns, and rows with their passages."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any

from builder.adapters.sql.connection import Cursor, Row
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.stored import Passage, StoredBreadcrumb

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

BREADCRUMB_COLUMNS = (
    "workspace, session, incarnation, sequence, id, version, schema, speaker, role, created_us, received_us, tags, body, text, "
    "calls, removes, fingerprint, answers, pointers, expires_us, task, tool, failed, asked, covers, "
    "utc_offset, user_id, private, hints, creator, agent, recipients, replay, facts_revision, erased"
)
HELD_COLUMNS = ", ".join(f"held.{name}" for name in BREADCRUMB_COLUMNS.split(", "))
KEY = "workspace = ? AND session = ? AND incarnation = ? AND sequence = ?"
BREADCRUMB_VALUES = ", ".join("?" * len(BREADCRUMB_COLUMNS.split(", ")))
MAX_INDEXED_CHARS = 400
REVISION = 2
"""Revision of computed words and bodies; a change needs a migration."""


def to_columns(remembered: StoredBreadcrumb) -> Row:
    """The values of BREADCRUMB_COLUMNS of a breadcrumb that was not erased."""
    crumb = remembered.breadcrumb
    return (
        *key_of(crumb),
        crumb.id,
        crumb.version,
        crumb.schema,
        crumb.speaker,
        crumb.role,
        to_us(crumb.created_at),
        to_us(crumb.received_at),
        json.dumps(crumb.tags),
        crumb.body,
        crumb.text,
        json.dumps(crumb.calls),
        crumb.removes,
        remembered.fingerprint,
        crumb.answers,
        json.dumps(crumb.pointers),
        to_us(crumb.expires_at) if crumb.expires_at else None,
        crumb.task,
        crumb.tool,
        int(crumb.failed),
        json.dumps(crumb.call_signatures),
        json.dumps(crumb.covers),
        crumb.utc_offset,
        "" if crumb.kind == "secret" else crumb.user_id,
        int(crumb.private),
        crumb.hints,
        crumb.creator,
        crumb.agent,
        json.dumps(crumb.to),
        int(crumb.replay),
        REVISION,
        "",
    )


def key_of(crumb: Breadcrumb) -> tuple[str, str, int, int]:
    """The primary key."""
    return (crumb.workspace, crumb.session, crumb.place.incarnation, crumb.place.sequence)


def indexed(text: str) -> str:
    """A text of any length as the value of an index: those of PostgreSQL take 2,704 bytes."""
    return text if len(text) <= MAX_INDEXED_CHARS else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def from_columns(row: Row, passages: tuple[Passage, ...], model: str) -> StoredBreadcrumb:
    """The noun of one row of BREADCRUMB_COLUMNS."""
    crumb = Breadcrumb(
        workspace=row[0],
        session=row[1],
        place=Place(row[2], row[3]),
        id=row[4],
        version=row[5],
        schema=row[6],
        speaker=row[7],
        role=row[8],
        created_at=from_us(row[9]),
        received_at=from_us(row[10]),
        tags=_list(row[11]),
        body=row[12],
        text=row[13],
        calls=_list(row[14]),
        removes=row[15],
        answers=row[17],
        pointers=_list(row[18]),
        expires_at=from_us(row[19]) if row[19] is not None else None,
        task=row[20],
        tool=row[21],
        failed=bool(row[22]),
        call_signatures=_list(row[23]),
        covers=_list(row[24]),
        utc_offset=row[25],
        user_id=row[26],
        private=bool(row[27]),
        hints=row[28],
        creator=row[29],
        agent=row[30],
        to=_list(row[31]),
        replay=bool(row[32]),
        is_erased=row[34] != "",
    )
    return StoredBreadcrumb(breadcrumb=crumb, passages=passages, model=model, fingerprint=row[16])


def breadcrumbs(rows: Iterable[Row]) -> tuple[Breadcrumb, ...]:
    """The breadcrumbs of rows of BREADCRUMB_COLUMNS."""
    return tuple(from_columns(row, (), "").breadcrumb for row in rows)


def to_us(moment: datetime) -> int:
    """Aware time → µs since 1970, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def from_us(microseconds: int) -> datetime:
    """µs since 1970 → aware UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


def _list(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text != "[]" else ()


def passages_by_place(rows: Any, model: str) -> dict[tuple[str, int, int], tuple[Passage, ...]]:
    """Passages by session and place, without vectors of other models."""
    return {
        place: tuple(
            Passage(start, stop, terms, (vector or b"") if name == model else b"", tokens, traits)
            for *_, start, stop, terms, vector, tokens, traits, name in group
        )
        for place, group in groupby(rows, key=itemgetter(0, 1, 2))
    }


_ITS_PASSAGES = f"""SELECT session, incarnation, sequence, start, stop, terms, vector, tokens, traits, models.name
    FROM passages JOIN models ON number = model WHERE {KEY} ORDER BY ordinal"""


def with_passages(sql: Cursor, row: Row, model: str = "") -> StoredBreadcrumb:
    """The noun of a row, read with its passages. model: whose vectors; "" = the stored ones."""
    return with_its_passages(sql, from_columns(row, (), ""), model)


def with_its_passages(sql: Cursor, bare: StoredBreadcrumb, model: str) -> StoredBreadcrumb:
    """The same with passages."""
    rows = list(sql.execute(_ITS_PASSAGES, key := key_of(bare.breadcrumb)))
    model = model or (rows[0][-1] if rows else "")
    passages = passages_by_place(iter(rows), model).get(key[1:], ())
    return replace(bare, passages=passages, model=model)


def joined_row(sql: Cursor, row: Row, passages: tuple[Passage, ...] | None, model: str) -> StoredBreadcrumb:
    """The noun of a row that ends with JOINS. passages: None = they are read."""
    noun = from_columns(row, passages, model) if passages is not None else with_passages(sql, row, model)
    return replace(noun, joins=row[-1]) if row[-1] else noun
