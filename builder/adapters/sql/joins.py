"""What belongs to a session without being in it: results that join the session of their call, tombstones, shared schemas.

Joins are indexed, so a recall does not read all results.
"""

import json
from collections.abc import Iterable, Mapping
from itertools import takewhile

from builder.adapters.sql.connection import Cursor, Row
from builder.adapters.sql.rows import BREADCRUMB_COLUMNS, HELD_COLUMNS, breadcrumbs, indexed, key_of
from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place
from builder.domain.recall import EVERY_SESSION, RecallQuery
from builder.ports.store import CallOrigin, origins_of

Session = tuple[str, str]
Rows = Iterable[Row]
PARTS = """
    (SELECT value ->> 0 AS part, CAST(value ->> 1 AS BIGINT) AS part_incarnation, CAST(value ->> 2 AS BIGINT) AS part_sequence
     FROM json_each(CAST(? AS TEXT)) LIMIT 1000000000) AS parts
"""
"""A list of (session, incarnation, sequence) as JSON.

Its limit keeps it apart from what is joined to it: PostgreSQL lets no function that may fail, as those of JSON, into an index of
rows with policies, and would read all rows of the workspace.
"""
NO_LIMIT = 2**62

_ADD_CALL = """
    INSERT INTO calls VALUES (?, ?, ?, ?, ?) ON CONFLICT (workspace, call, session) DO UPDATE
    SET incarnation = excluded.incarnation, sequence = excluded.sequence
    WHERE (excluded.incarnation, excluded.sequence) < (calls.incarnation, calls.sequence)
"""
_NEWEST = """
    SELECT id, incarnation, sequence FROM answers WHERE workspace = ? AND call = ? ORDER BY incarnation DESC, sequence DESC
"""
_ANSWER = "INSERT INTO answers (workspace, incarnation, sequence, id, call) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_DROP_CALL = """
    DELETE FROM calls WHERE workspace = ? AND call = ? AND session = ? AND (incarnation, sequence) = (?, ?)
"""
_DROP_ANSWER = "DELETE FROM answers WHERE workspace = ? AND incarnation = ? AND sequence = ?"
_LATER_CALLS = f"""
    SELECT {HELD_COLUMNS} FROM breadcrumbs AS held
    WHERE held.workspace = ? AND held.session = ? AND (held.incarnation, held.sequence) > (?, ?) AND held.calls <> '[]'
"""
_VERSIONS = """
    SELECT incarnation, sequence, call, joins FROM answers WHERE workspace = ? AND id = ? ORDER BY incarnation, sequence
"""
_LAST = """
    SELECT incarnation, sequence, joins FROM answers WHERE workspace = ? AND id = ?
    ORDER BY incarnation DESC, sequence DESC LIMIT 1
"""
_ASKERS = "SELECT session FROM calls WHERE workspace = ? AND call = ? AND (incarnation, sequence) < (?, ?) LIMIT 2"
_JOIN = "UPDATE answers SET joins = ? WHERE workspace = ? AND incarnation = ? AND sequence = ?"
_JOINED = f"""
    SELECT {HELD_COLUMNS}, joined.joins
    FROM {PARTS}
    CROSS JOIN answers AS joined INDEXED BY answers_joins
      ON joined.workspace = ? AND joined.joins = part AND joined.joins <> ''
     AND (joined.incarnation, joined.sequence) > (part_incarnation, part_sequence)
    CROSS JOIN breadcrumbs AS held
      ON held.workspace = joined.workspace AND held.session = '{NO_SESSION}'
     AND held.incarnation = joined.incarnation AND held.sequence = joined.sequence
    WHERE held.removes = '' AND held.erased = '' AND (joined.incarnation, joined.sequence) <= (?, ?)
    ORDER BY joined.incarnation, joined.sequence LIMIT ?
"""
JOINS = f"""
    CASE WHEN session = '{NO_SESSION}' AND removes = '' THEN coalesce((
        SELECT joins FROM answers WHERE (answers.workspace, answers.incarnation, answers.sequence)
            = (breadcrumbs.workspace, breadcrumbs.incarnation, breadcrumbs.sequence)
    ), '') ELSE '' END
"""
"""A column of `breadcrumbs`: the session that the row joined."""


def note_joins(sql: Cursor, crumb: Breadcrumb) -> frozenset[Session]:
    """Index a row that calls or may join. Returns sessions whose older rows changed."""
    workspace, _, *place = key_of(crumb)
    if crumb.may_join:
        sql.lock(workspace)
        *newest, home = next(sql.execute(_LAST, (workspace, crumb.id)), (*place, ""))
        sql.execute(_ANSWER, (workspace, *place, crumb.id, indexed(crumb.joins_by)))
        if Place(*newest) <= crumb.place and (home or not crumb.joins_by):  # a catalog may have thousands of versions
            sql.execute(_JOIN, (home, workspace, *place))
            return frozenset()
        return _join(sql, workspace, crumb.id, crumb.place)
    return add_calls(sql, origins_of(crumb))


def add_calls(sql: Cursor, origins: tuple[CallOrigin, ...]) -> frozenset[Session]:
    """List calls. Returns the sessions of which older rows changed by it."""
    changed: set[Session] = set()
    for workspace in sorted({origin.workspace for origin in origins}):
        sql.lock(workspace)
    for origin in (each._replace(call=indexed(each.call)) for each in origins):
        sql.execute(_ADD_CALL, origin)
        if sql.changes():
            place = Place(origin.incarnation, origin.sequence)
            answers = ((name, Place(*where)) for name, *where in sql.execute(_NEWEST, (origin.workspace, origin.call)))
            for name in [name for name, _ in takewhile(lambda answer: answer[1] > place, answers)]:  # noqa: B023 - used at once
                changed |= _join(sql, origin.workspace, name)
    return frozenset(changed)


def drop_joins(sql: Cursor, crumb: Breadcrumb) -> frozenset[Session]:
    """Take a row that is in the store no more out of the index. Returns the sessions of which older rows changed by it."""
    workspace, session, *place = key_of(crumb)
    sql.lock(workspace)
    if crumb.may_join:
        sql.execute(_DROP_ANSWER, (workspace, *place))
        return _join(sql, workspace, crumb.id)
    changed: set[Session] = set()
    calls = set()
    for origin in origins_of(crumb):
        sql.execute(_DROP_CALL, origin._replace(call=indexed(origin.call)))
        if sql.changes():
            calls.add(origin.call)
    if calls:
        later = breadcrumbs(sql.execute(_LATER_CALLS, (workspace, session, *place)))
        changed |= add_calls(sql, tuple(each for other in later for each in origins_of(other) if each.call in calls))
    for call in calls:
        for name in {name for name, *_ in sql.execute(_NEWEST, (workspace, indexed(call)))}:
            changed |= _join(sql, workspace, name)
    return frozenset(changed)


def joined(sql: Cursor, crumb: Breadcrumb) -> frozenset[Session]:
    """The session that it joined, if it joined any."""
    workspace, session, *place = key_of(crumb)
    text = "SELECT joins FROM answers WHERE workspace = ? AND incarnation = ? AND sequence = ? AND joins <> ''"
    rows = sql.execute(text, (workspace, *place)) if session == NO_SESSION else ()
    return frozenset((workspace, joins) for (joins,) in rows)


def find_joined(sql: Cursor, query: RecallQuery, spans: Mapping[str, Place]) -> Rows:
    """Rows that joined these sessions up to the query's end. spans: session → place after which."""
    parts = json.dumps([(session, *place) for session, place in sorted(spans.items())])
    return sql.execute(_JOINED, (parts, query.scope.workspace, *query.until, query.limit))


def joined_before(sql: Cursor, workspace: str, session: str, until: Place) -> Rows:
    """Rows of BREADCRUMB_COLUMNS and JOINS that joined a session before a place."""
    return sql.execute(_JOINED, (json.dumps([(session, *ORIGIN)]), workspace, *until.previous, NO_LIMIT))


def caller(sql: Cursor, workspace: str, call: str, before: Place) -> str:
    """The only session that made this call before; "" = none or several."""
    askers = list(sql.execute(_ASKERS, (workspace, indexed(call), *before)))
    return str(askers[0][0]) if len(askers) == 1 else ""


def _join(sql: Cursor, workspace: str, identity: str, new: Place | None = None) -> frozenset[Session]:
    rows = list(sql.execute(_VERSIONS, (workspace, identity)))
    first = next((number for number, (*_, call, _) in enumerate(rows) if call), len(rows))
    home = caller(sql, workspace, rows[first][2], Place(*rows[first][:2])) if first < len(rows) else ""
    changed: set[Session] = set()
    for number, (incarnation, sequence, _, before) in enumerate(rows):
        now = home if number >= first else ""
        if now != before:
            sql.execute(_JOIN, (now, workspace, incarnation, sequence))
            changed |= {(workspace, name) for name in (before, now, NO_SESSION) if name and (incarnation, sequence) != new}
    return frozenset(changed)


_SPAN = "(incarnation, sequence) > (?2, ?3) AND (incarnation, sequence) <= (?4, ?5) ORDER BY incarnation, sequence LIMIT ?6"
_REMOVALS = (
    f"SELECT {BREADCRUMB_COLUMNS}, {JOINS} FROM breadcrumbs INDEXED BY breadcrumbs_removals "
    f"WHERE workspace = ?1 AND session = '{NO_SESSION}' AND removes <> '' AND erased = '' AND {_SPAN}"
)
_OTHER = f"""
    SELECT 1 FROM breadcrumbs AS other INDEXED BY breadcrumbs_identity
    WHERE other.version {{than}} breadcrumbs.version AND other.workspace = ?1 AND other.id = breadcrumbs.id
      AND other.session = '{NO_SESSION}' AND other.removes = ''
      AND (other.incarnation, other.sequence) < (breadcrumbs.incarnation, breadcrumbs.sequence)
"""
# A later version belongs where an earlier one does, whatever it says by then.
_SHARED = f"""
    SELECT {BREADCRUMB_COLUMNS}, {JOINS} FROM breadcrumbs
    WHERE workspace = ?1 AND session = '{NO_SESSION}' AND removes = '' AND erased = ''
      AND (schema IN ({{schemas}}) OR version > 1 AND EXISTS ({_OTHER.format(than="<")} AND other.schema IN ({{schemas}})))
      AND NOT EXISTS ({_OTHER.format(than=">")})
      AND {_SPAN}
"""
_FIRST_SCHEMA = 7


def find_sessionless(sql: Cursor, query: RecallQuery, spans: Mapping[str, Place]) -> tuple[Rows, ...]:
    """Tombstones, joined rows and shared schemas; () within NO_SESSION. spans: session → place after which."""
    if query.scope.sessions == (EVERY_SESSION,) or NO_SESSION in query.scope.sessions:
        return ()
    span = (query.scope.workspace, *query.after, *query.until, query.limit)
    return sql.execute(_REMOVALS, span), find_joined(sql, query, spans), _shared(sql, query.scope.shared, span)


def _shared(sql: Cursor, schemas: tuple[str, ...], span: Row) -> Rows:
    if not schemas:
        return ()
    numbers = ", ".join(f"?{number}" for number in range(_FIRST_SCHEMA, _FIRST_SCHEMA + len(schemas)))
    return sql.execute(_SHARED.format(schemas=numbers), (*span, *schemas))
