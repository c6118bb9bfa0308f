"""Where the rows of a scope are: its sessions, and its person's."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from builder.adapters.sql.connection import Cursor, Row
from builder.adapters.sql.joins import JOINS, PARTS, joined_before
from builder.adapters.sql.rows import BREADCRUMB_COLUMNS
from builder.domain.breadcrumb import NO_SESSION, Place
from builder.domain.recall import EVERY_SESSION, RecallQuery, Scope
from builder.domain.stored import StoredBreadcrumb

# One look into the index a session, however much the person has said in it.
_NEXT = """
    SELECT min(session) FROM breadcrumbs INDEXED BY breadcrumbs_people
    WHERE workspace = ?1 AND user_id = ?2 AND user_id <> ''
"""
_FIRST_WORDS = """
    SELECT CAST(json_array(incarnation, sequence) AS TEXT) FROM breadcrumbs INDEXED BY breadcrumbs_people
    WHERE workspace = ?1 AND user_id = ?2 AND user_id <> '' AND session = names.session ORDER BY incarnation, sequence LIMIT 1
"""
_IS_PRIVATE = """
    SELECT private FROM breadcrumbs WHERE workspace = ?1 AND session = {session} ORDER BY incarnation, sequence LIMIT 1
"""
_NAMES = f"""
    WITH RECURSIVE names (session) AS (
        {_NEXT} UNION ALL SELECT ({_NEXT} AND session > names.session) FROM names WHERE names.session IS NOT NULL
    )
"""
_SESSIONS = f"""
    SELECT session, ({_FIRST_WORDS}), ({_IS_PRIVATE.format(session="names.session")}) FROM names
    WHERE session IS NOT NULL AND session <> '{NO_SESSION}'
"""
_AMONG = "WITH names (session) AS (SELECT value ->> 0 FROM json_each(CAST(?3 AS TEXT)))"
_NEW_ROWS = """
    SELECT session FROM breadcrumbs INDEXED BY breadcrumbs_places
    WHERE workspace = ? AND (incarnation, sequence) > (?, ?) AND (incarnation, sequence) <= (?, ?) LIMIT ?
"""
NAMES_QUERY = f"{_NAMES} SELECT session FROM names WHERE session IS NOT NULL"
# The trace of an erased breadcrumb may have been anybody's.
PERSON = """
    SELECT user_id FROM breadcrumbs WHERE workspace = ? AND session = ? AND (incarnation, sequence) < (?, ?)
      AND (role = 'user' OR erased <> '')
    ORDER BY incarnation {order}, sequence {order} LIMIT 1
"""
_OPENING = f"""
    SELECT {BREADCRUMB_COLUMNS}, {JOINS} FROM breadcrumbs
    WHERE workspace = ? AND session = ? AND erased = '' AND (incarnation, sequence) < (?, ?) ORDER BY incarnation, sequence
"""
SOURCE = f"""
    {PARTS} CROSS JOIN breadcrumbs ON session = part AND (incarnation, sequence) > (part_incarnation, part_sequence)
"""
"""Replaces `breadcrumbs`: rows of the sessions in `parts`, each after its place."""
SPAN = "(incarnation, sequence) > (?, ?) AND (incarnation, sequence) <= (?, ?)"
_BY_PLACE = {"span": SPAN, "first": "incarnation"}
_BY_SESSION = {"span": SPAN.replace("(inc", "(+inc"), "first": "+incarnation"}
"""With no index of places: PostgreSQL would rather walk the whole workspace in its order than look up the sessions."""
MAX_NEW_ROWS = 1_000
"""Number of new rows up to which only their sessions are read."""


@dataclass(frozen=True, slots=True)
class ScopeSpans:
    """The sessions of a query's scope that may have new rows."""

    spans: Mapping[str, Place]
    """Session → place after which its rows are new in the scope."""
    first_words: Mapping[str, Place] = field(default_factory=dict)
    """New session opened by an agent → place of the person's first words."""
    cuts: frozenset[tuple[str, Place]] = frozenset()
    """New sessions opened by another person → place of the person's first words."""

    def marked(self, row: StoredBreadcrumb) -> StoredBreadcrumb:
        """The row, marked where it is such first words."""
        crumb = row.breadcrumb
        return replace(row, is_cut=True) if (crumb.session, crumb.place) in self.cuts else row

    @property
    def parameter(self) -> str:
        """The parameter of SOURCE."""
        return json.dumps([(session, *place) for session, place in sorted(self.spans.items())])


def person_spans(sql: Cursor, query: RecallQuery) -> ScopeSpans:
    """Sessions of the query's scope with new rows, as of its end."""
    scope, after, until = query.scope, query.after, query.until
    rows = _sessions(sql, query)
    places = ((session, Place(*json.loads(place))) for session, place, private in rows if place and not private)
    first_words = {session: place for session, place in places if place <= until}
    if query.session != NO_SESSION and not _is_private(sql, scope.workspace, query.session):
        first_words.setdefault(query.session, until)
    spans = {session: max(after, place.previous) for session, place in first_words.items()}
    new = {session: place for session, place in first_words.items() if place > after and session not in scope.sessions}
    cuts = {session: place for session, place in new.items() if _first_person(sql, scope.workspace, session, place)}
    openings = {session: place for session, place in new.items() if session not in cuts}
    return ScopeSpans(spans | dict.fromkeys(scope.sessions, after), openings, frozenset(cuts.items()))


def openings(sql: Cursor, workspace: str, new: Mapping[str, Place], until: Place) -> list[tuple[Place, Row]]:
    """(Place, row) of what agents said before the person's first words up to `until`."""
    return [
        (place, row)
        for session, place in new.items()
        if place <= until
        for row in (*sql.execute(_OPENING, (workspace, session, *place)), *joined_before(sql, workspace, session, place))
    ]


def is_memory(sql: Cursor, workspace: str, session: str, user: str, until: Place) -> bool:
    """`People.is_memory`."""
    first = _first_person(sql, workspace, session, until)
    return not _is_private(sql, workspace, session) and first in ([], [user])


def _sessions(sql: Cursor, query: RecallQuery) -> Iterable[tuple[str, str, int]]:
    person = query.scope.workspace, query.scope.user
    rows = sql.execute(_NEW_ROWS, (query.scope.workspace, *query.after, *query.until, MAX_NEW_ROWS + 1))
    sessions = [session for (session,) in rows]
    if len(sessions) > MAX_NEW_ROWS or NO_SESSION in sessions:
        return sql.execute(f"{_NAMES} {_SESSIONS}", person)
    return sql.execute(f"{_AMONG} {_SESSIONS}", (*person, json.dumps([(name,) for name in sorted({*sessions, query.session})])))


def _is_private(sql: Cursor, workspace: str, session: str) -> bool:
    return any(private for (private,) in sql.execute(_IS_PRIVATE.format(session="?2"), (workspace, session)))


def _first_person(sql: Cursor, workspace: str, session: str, until: Place) -> list[str]:
    return [user for (user,) in sql.execute(PERSON.format(order="ASC"), (workspace, session, *until))]


def source(sql: Cursor, query: RecallQuery) -> tuple[dict[str, str], tuple[str, ...], ScopeSpans]:
    """FROM, WHERE, passage columns and values of a query, and its sessions."""
    facts = "terms, vector" if query.searched else "'', NULL"
    if not query.scope.user:
        scope, values = condition(query.scope)
        spans = ScopeSpans(dict.fromkeys(query.scope.sessions, query.after))
        return {"source": "breadcrumbs", "scope": scope, "facts": facts} | _BY_PLACE, values, spans
    spans = person_spans(sql, query)
    values = (spans.parameter, query.scope.workspace)
    return {"source": SOURCE, "scope": "workspace = ?", "facts": facts} | _BY_SESSION, values, spans


def by_order(row: StoredBreadcrumb) -> tuple[tuple[Place, int], Place, str]:
    """To sort the rows of a recall."""
    return row.order, row.breadcrumb.place, row.breadcrumb.session


def revised_with(scope: Scope) -> tuple[str, tuple[str, ...]]:
    """Condition for the scope's revisions; for a person, of the whole workspace."""
    if scope.user:
        return condition(replace(scope, sessions=(EVERY_SESSION,)))
    return condition(replace(scope, sessions=(*scope.sessions, NO_SESSION)) if scope.shared else scope)


def condition(scope: Scope) -> tuple[str, tuple[str, ...]]:
    """The condition and its values."""
    if scope.sessions == (EVERY_SESSION,):
        return "workspace = ?", (scope.workspace,)
    return f"workspace = ? AND session IN ({', '.join('?' * len(scope.sessions))})", (scope.workspace, *scope.sessions)
