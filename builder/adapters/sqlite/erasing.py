"""SQL of `Eraser` and `PendingStubs`. SQLite overwrites deleted bytes (`secure_delete`)."""

from datetime import datetime
from typing import Any

import apsw

from builder.adapters.sqlite import sessionless
from builder.adapters.sqlite.rows import (
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
from builder.domain.breadcrumb import NO_SESSION, SUMMARY, Breadcrumb, Place
from builder.domain.recall import Ended, StoredBreadcrumb, erased
from builder.domain.summary import ids_by_session, made_from

_ITSELF = f"""
    SELECT {HELD_COLUMNS} FROM breadcrumbs AS held INDEXED BY breadcrumbs_identity
    WHERE held.workspace = ? AND held.id = ? AND held.erased = '' AND {{session}}
      AND (held.incarnation, held.sequence) < (?, ?)
"""
_SUMMARIES = """
    SELECT {columns} FROM breadcrumbs AS held INDEXED BY breadcrumbs_latest
    WHERE held.workspace = ? AND held.schema = ? AND held.erased = '' AND {session}
"""
TRACES = f"""
    SELECT {BREADCRUMB_COLUMNS} FROM breadcrumbs WHERE workspace = ? AND erased = ? AND erased <> ''
    ORDER BY incarnation, sequence, session
"""
_TEXTS = " + ".join(
    f"length(CAST(held.{name} AS BLOB))" for name in ("tags", "body", "text", "calls", "pointers", "asked", "covers", "hints")
)
_SIZED = f"""
    {HELD_COLUMNS}, {_TEXTS}
      + coalesce((SELECT sum(length(CAST(terms AS BLOB)) + length(vector)) FROM passages
                  WHERE (workspace, session, incarnation, sequence)
                      = (held.workspace, held.session, held.incarnation, held.sequence)), 0)
"""
_ENDED = f"""
    SELECT DISTINCT {_SIZED}
    FROM breadcrumbs AS over INDEXED BY breadcrumbs_expiry CROSS JOIN breadcrumbs AS held INDEXED BY breadcrumbs_identity
      ON held.workspace = over.workspace AND held.id = over.id AND held.session = over.session
    WHERE over.expires_us <= ? AND over.erased = '' AND held.erased = ''
      AND (held.incarnation, held.sequence) <= (over.incarnation, over.sequence)
"""


def erase(sql: apsw.Connection, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
    """`Eraser.erase`."""
    where, sessions = _within(session)
    itself = sql.execute(_ITSELF.format(session=where), (workspace, identity, *sessions, *until))
    matches = list(breadcrumbs(itself))
    summaries = sql.execute(_SUMMARIES.format(columns=HELD_COLUMNS, session=where), (workspace, SUMMARY, *sessions))
    matches += made_from(breadcrumbs(summaries), {identity})
    _take(sql, [(crumb, identity) for crumb in matches])
    return tuple(sorted(matches, key=lambda crumb: (crumb.place, crumb.session)))


def ended(sql: apsw.Connection, moment: datetime) -> tuple[Ended, ...]:
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


def purge(sql: apsw.Connection, over: tuple[Ended, ...]) -> None:
    """`Eraser.purge`."""
    _take(sql, [(item.breadcrumb, item.breadcrumb.id) for item in over])


def _within(session: str) -> tuple[str, tuple[str, ...]]:
    return ("held.session = ?", (session,)) if session != NO_SESSION else ("TRUE", ())


def _ended(row: tuple[Any, ...]) -> Ended:
    return Ended(breadcrumb=from_columns(row[:-1], (), "").breadcrumb, size=row[-1])


def _take(sql: apsw.Connection, crumbs: list[tuple[Breadcrumb, str]]) -> None:
    update = f"UPDATE breadcrumbs SET ({BREADCRUMB_COLUMNS}) = ({BREADCRUMB_VALUES}) WHERE {KEY}"
    for crumb, reason in crumbs:
        key = key_of(crumb)
        trace = StoredBreadcrumb(breadcrumb=erased(crumb), passages=(), model="", fingerprint=b"")
        sql.execute(update, (*to_columns(trace)[:-1], reason, *key))
        for table in ("passages", "tags", "lacking"):
            sql.execute(f"DELETE FROM {table} WHERE {KEY}", key)
    sessions = {key_of(crumb)[:2] for crumb, _ in crumbs}
    sessionless.revise(sql, sessions.union(*(sessionless.joined(sql, crumb) for crumb, _ in crumbs)))
