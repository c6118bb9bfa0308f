"""Who stands under an id, and what leaves the store when something comes that stood before it in the stream."""

import json
from collections.abc import Iterable
from itertools import repeat

from builder.adapters.sql import bookkeeping, joins, revisions
from builder.adapters.sql.connection import Cursor
from builder.adapters.sql.rows import HELD_COLUMNS, KEY, breadcrumbs, from_us, key_of
from builder.domain.breadcrumb import MOVE, NO_SESSION, SUMMARY, TOMBSTONE, Breadcrumb, Place
from builder.domain.erasure import erased
from builder.domain.errors import Rejected
from builder.domain.identity import Identity, Mark, Version, displaces
from builder.domain.recall import EVERY_SESSION

_FACTS = f"""
    session, incarnation, sequence, schema, role, user_id, expires_us,
    CASE WHEN schema = '{MOVE}' THEN body ELSE '' END AS note, id
"""
_UNDER_ID = "FROM breadcrumbs INDEXED BY breadcrumbs_firsts WHERE workspace = ?1 AND id = ?2"
_BY_PLACE = "ORDER BY incarnation, sequence, session LIMIT 1"
_IDENTITY = f"""
    SELECT 'first' AS part, * FROM (SELECT {_FACTS} {_UNDER_ID} {_BY_PLACE}) AS earliest
    UNION ALL SELECT 'spoken', * FROM (SELECT {_FACTS} {_UNDER_ID} AND erased = '' AND removes = '' {_BY_PLACE}) AS spoken
    UNION ALL SELECT 'mark', {_FACTS} FROM breadcrumbs INDEXED BY breadcrumbs_tombstones
    WHERE workspace = ?1 AND removes = ?2 AND removes <> '' AND erased = ''
"""
# A trace closes its version: a purge takes one that ended, and its id goes on.
_CLOSED_SOURCES = """
    SELECT 1
    FROM (
        SELECT value ->> 0 AS name, CAST(value ->> 1 AS BIGINT) AS number FROM json_each(CAST(?2 AS TEXT)) LIMIT 1000000000
    ) AS names
    CROSS JOIN breadcrumbs INDEXED BY breadcrumbs_tombstones ON workspace = ?1 AND removes = name
    WHERE removes <> '' AND schema <> ?3 AND session IN (?4, ?5) AND (erased = '' OR version = number) LIMIT 1
"""
_LATER = f"""
    SELECT {HELD_COLUMNS} FROM breadcrumbs AS held INDEXED BY breadcrumbs_firsts
    WHERE held.workspace = ? AND held.id = ? AND held.erased = '' AND (held.incarnation, held.sequence) > (?, ?)
"""
_SAME = f"""
    SELECT {HELD_COLUMNS} FROM breadcrumbs AS held INDEXED BY breadcrumbs_identity
    WHERE held.workspace = ? AND held.id = ? AND held.version = ?
"""
_REWIND = """
    UPDATE watermarks SET incarnation = ?, sequence = ?
    WHERE workspace = ? AND session IN (?, ?) AND (incarnation, sequence) > (?, ?)
"""


def identity(sql: Cursor, workspace: str, name: str) -> Identity:
    """The identity that is stored under an id."""
    parts: dict[str, Version] = {}
    marks: list[Mark] = []
    for part, session, incarnation, sequence, schema, role, user_id, expires_us, note, own in sql.execute(
        _IDENTITY, (workspace, name)
    ):
        place, expires_at = Place(incarnation, sequence), None if expires_us is None else from_us(expires_us)
        version = Version(place=place, session=session, schema=schema, role=role, user_id=user_id, expires_at=expires_at)
        if part == "mark":
            to, secret = json.loads(note)["session"] if note else "", version if own == name else None
            marks.append(Mark(place=place, session=session, to=to, secret=secret))
        else:
            parts[part] = version
    return Identity(first=parts.get("first"), spoken=parts.get("spoken"), marks=tuple(marks))


def admits(sql: Cursor, crumb: Breadcrumb) -> bool:
    """Whether it may be stored, once what may not stand behind it is taken out. Raises `Rejected` for an id of another.

    Where its id is closed it leaves the trace that it would have left, had it come before that.
    """
    for name in sorted({crumb.id, crumb.removes} - {""}):
        sql.lock(f"{crumb.workspace} {name}")
    there = identity(sql, crumb.workspace, crumb.id)
    if there.is_closed(crumb):
        if bookkeeping.leave(sql, crumb):
            _make_way(sql, there, erased(crumb))
        return False
    if crumb.schema == SUMMARY and not crumb.removes and _has_closed_source(sql, crumb):
        return False
    _check(sql, there, crumb)
    _make_way(sql, there, crumb)
    return True


def displace(sql: Cursor, crumb: Breadcrumb) -> bool:
    """Whether another one had its version, stands behind it, and was taken out."""
    rivals = [
        each for each in breadcrumbs(sql.execute(_SAME, (crumb.workspace, crumb.id, crumb.version))) if displaces(crumb, each)
    ]
    _remove(sql, rivals)
    return bool(rivals)


def _check(sql: Cursor, there: Identity, crumb: Breadcrumb) -> None:
    reason = there.conflict(crumb)
    if crumb.schema == MOVE and crumb.session != NO_SESSION:
        reason = f"{MOVE} came in session {crumb.session!r}; the service alone writes it, in session {NO_SESSION!r}"
    elif not reason and crumb.schema == TOMBSTONE and crumb.removes != crumb.id:
        reason = identity(sql, crumb.workspace, crumb.removes).stray(crumb)
    if reason:
        raise Rejected(reason)


def _make_way(sql: Cursor, before: Identity, crumb: Breadcrumb) -> None:
    """Before it is stored, take out what stands behind it and came first.

    What it closes leaves traces, what may not stand behind it nothing. before: what is stored under its id.
    """
    is_late = any(version and crumb.place < version.place for version in (before.first, before.spoken))
    for name in ({crumb.removes, crumb.id} if is_late else {crumb.removes}) - {""}:
        there = (before if name == crumb.id else identity(sql, crumb.workspace, name)).with_crumb(crumb, name)
        later = breadcrumbs(sql.execute(_LATER, (crumb.workspace, name, *crumb.place)))
        same = [each for each in later if (each.id, each.version) == (crumb.id, crumb.version)]
        closed = [each for each in later if there.is_closed(each)]
        bookkeeping.take(sql, [(each, name) for each in closed if each not in same])
        rivals = [each for each in later if there.conflict(each) and (each in same or each not in closed)]
        _remove(sql, [*rivals, *_traces_behind(sql, name, rivals)])


def _traces_behind(sql: Cursor, name: str, rivals: Iterable[Breadcrumb]) -> list[Breadcrumb]:
    """The traces that secrets among the rivals have closed."""
    secrets = [each for each in rivals if each.removes == name == each.id]
    if not secrets:
        return []
    first = min(secrets, key=lambda each: each.place)
    traces = breadcrumbs(sql.execute(bookkeeping.TRACES, (first.workspace, name)))
    return [trace for trace in traces if trace.id == name and trace.place > first.place]


def _has_closed_source(sql: Cursor, summary: Breadcrumb) -> bool:
    body = json.loads(summary.body)
    sources = {*zip(summary.covers, body.get("versions") or repeat(1), strict=False), (body.get("previous", ""), 1)}
    for line in body.get("lines", ()):
        sources |= {*zip(line["ids"], line.get("versions") or repeat(1), strict=False)}
    values = (summary.workspace, json.dumps(sorted(sources)), MOVE, summary.session, NO_SESSION)
    return next(sql.execute(_CLOSED_SOURCES, values), None) is not None


def _remove(sql: Cursor, crumbs: Iterable[Breadcrumb]) -> None:
    """Take them out. The next walk of their session reads their messages again, and says in dead letters why."""
    for crumb in crumbs:
        joined = joins.joined(sql, crumb)
        for table in ("passages", "tags", "lacking", "breadcrumbs"):
            sql.execute(f"DELETE FROM {table} WHERE {KEY}", key_of(crumb))
        revisions.revise(sql, {key_of(crumb)[:2], *joined, *joins.drop_joins(sql, crumb)})
        place = crumb.place.previous
        sql.execute(_REWIND, (*place, crumb.workspace, crumb.session, EVERY_SESSION, *place))
