"""The sessions that belong to a scope by its person, as functions of all breadcrumbs."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from typing_extensions import override

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.recall import RecallQuery, Scope, StoredBreadcrumb
from builder.ports.store import People
from tests.memory_store.queries import by_place


def crumbs_of(workspace: str, rows: Iterable[StoredBreadcrumb]) -> list[Breadcrumb]:
    """All of a workspace."""
    return [row.breadcrumb for row in rows if row.breadcrumb.workspace == workspace]


def first_words(query: RecallQuery, crumbs: Iterable[Breadcrumb]) -> dict[str, Place]:
    """Session that belongs to the query's scope by its person → the place from which on it does.

    crumbs: all of the workspace, erased ones included.
    """
    if not query.scope.user:
        return {}
    ordered = sorted(crumbs, key=by_place)
    own = [crumb for crumb in ordered if crumb.user_id == query.scope.user and crumb.place <= query.until]
    places = {crumb.session: crumb.place for crumb in reversed(own)}
    places.setdefault(query.session, query.until)
    private = {crumb.session for crumb in reversed(ordered) if _opening(crumb.session, ordered).private}
    return {session: place for session, place in places.items() if session not in {NO_SESSION, *private}}


def with_sessions(scope: Scope, places: dict[str, Place]) -> Scope:
    """The scope with these sessions by name."""
    return replace(scope, sessions=tuple({*scope.sessions, *places}))


def as_entered(
    row: StoredBreadcrumb, session: str, scope: Scope, places: dict[str, Place], crumbs: Iterable[Breadcrumb]
) -> StoredBreadcrumb | None:
    """The row as it comes into the scope, with `session`, its own or that it joined; None for one that never does."""
    crumb = row.breadcrumb
    start = places.get(session) if session not in scope.sessions else None
    if start is None or crumb.place > start:
        return row
    another_spoke = first_person(session, start, crumbs) is not None
    if crumb.place == start:
        return replace(row, is_cut=another_spoke)
    return None if another_spoke else replace(row, entry=start)


def first_person(session: str, until: Place, crumbs: Iterable[Breadcrumb]) -> str | None:
    """The `user_id` of the first person in a session below a place; the trace of an erased breadcrumb may have been anybody's."""
    first = min(_people(session, until, crumbs), key=by_place, default=None)
    return None if first is None else first.user_id


def last_speaker(session: str, until: Place, crumbs: Iterable[Breadcrumb]) -> str | None:
    """`People.last_speaker`."""
    last = max(_people(session, until, crumbs), key=by_place, default=None)
    return None if last is None else last.user_id


def is_memory(session: str, user: str, until: Place, crumbs: list[Breadcrumb]) -> bool:
    """`People.is_memory`."""
    own = [crumb for crumb in crumbs if crumb.session == session]
    return not (own and _opening(session, own).private) and first_person(session, until, own) in {None, user}


def _people(session: str, until: Place, crumbs: Iterable[Breadcrumb]) -> Iterator[Breadcrumb]:
    before = (crumb for crumb in crumbs if crumb.session == session and crumb.place < until)
    return (crumb for crumb in before if crumb.role == "user" or crumb.is_erased)


def _opening(session: str, crumbs: Iterable[Breadcrumb]) -> Breadcrumb:
    return min((crumb for crumb in crumbs if crumb.session == session), key=by_place)


def comes_with(row: StoredBreadcrumb) -> Place:
    """The place of the row, or of the first words with which it comes into the scope."""
    return row.entry or row.breadcrumb.place


def first_rows(rows: list[StoredBreadcrumb], limit: int) -> list[StoredBreadcrumb]:
    """The first rows: `limit` in their own places, and what came into the scope with them."""
    in_place = [row for row in rows if row.entry is None]
    if len(in_place) < limit:
        return rows
    end = in_place[limit - 1].breadcrumb.place
    return [row for row in rows if comes_with(row) <= end]


def latest(until: Place, crumbs: list[Breadcrumb]) -> tuple[Breadcrumb, ...]:
    """`People.latest`."""
    ordered = sorted((crumb for crumb in crumbs if crumb.session != NO_SESSION and not crumb.removes), key=by_place)
    ends = {crumb.session: crumb for crumb in ordered}.values()
    return tuple(sorted((crumb for crumb in ends if crumb.place < until), key=by_place, reverse=True))


class MemoryPeople(People):
    """The part of the store that knows where people have spoken."""

    _rows: dict[tuple[str, str, int], StoredBreadcrumb]

    @override
    async def is_memory(self, workspace: str, session: str, user: str, until: Place) -> bool:
        return is_memory(session, user, until, crumbs_of(workspace, self._rows.values()))

    @override
    async def first_speaker(self, workspace: str, session: str, until: Place) -> str | None:
        return first_person(session, until, crumbs_of(workspace, self._rows.values()))

    @override
    async def last_speaker(self, workspace: str, session: str, until: Place) -> str | None:
        return last_speaker(session, until, crumbs_of(workspace, self._rows.values()))

    @override
    async def latest(self, workspace: str, until: Place, limit: int) -> tuple[Breadcrumb, ...]:
        return latest(until, crumbs_of(workspace, self._rows.values()))[:limit]

    @override
    async def sessions_of(self, workspace: str, user: str) -> tuple[str, ...]:
        crumbs = (row.breadcrumb for row in self._rows.values())
        return tuple(sorted({crumb.session for crumb in crumbs if (crumb.workspace, crumb.user_id) == (workspace, user)}))
