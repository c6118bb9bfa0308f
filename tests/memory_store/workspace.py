"""Parts of a large workspace, over all rows of a store."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace

from typing_extensions import override

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.recall import EVERY_SESSION, PassageFacts, StoredBreadcrumb
from builder.ports.store import WorkspaceReader
from tests.memory_store.queries import Joined, by_place, is_trace, joins_of, of_model


class MemoryWorkspaceReader(WorkspaceReader):
    """The part of the store that reads large workspaces."""

    _rows: dict[tuple[str, str, int], StoredBreadcrumb]
    _revisions: dict[tuple[str, str], int]

    @abstractmethod
    def _remaining(self, workspace: str) -> list[StoredBreadcrumb]: ...

    @abstractmethod
    def _joined(self, workspace: str) -> Joined: ...

    @override
    async def outgrows(self, workspace: str, rows: int, until: Place) -> bool:
        return sum(row.breadcrumb.workspace == workspace and row.breadcrumb.place < until for row in self._rows.values()) > rows

    @override
    async def passages(
        self, workspace: str, session: str, span: tuple[Place, Place], limit: int, model: str
    ) -> tuple[tuple[PassageFacts, ...], Place]:
        return _passages_of(self._remaining(workspace), session, span, model), span[1]

    @override
    async def revisions(self, workspace: str) -> Mapping[str, int]:
        return {session: number for (name, session), number in self._revisions.items() if name == workspace}

    @override
    async def stretches(
        self, workspace: str, places: Mapping[str, frozenset[Place]], reach: int, until: Place, model: str
    ) -> tuple[StoredBreadcrumb, ...]:
        every = [row for key, row in self._rows.items() if key[0] == workspace and row.breadcrumb.place <= until]
        crumbs = [row.breadcrumb for row in every]
        remaining = [row for row in self._remaining(workspace) if row.breadcrumb.place <= until]
        traces = [row for row in every if is_trace(row.breadcrumb, until)]
        near = [row for row in (*remaining, *traces) if _is_near(row.breadcrumb, places, reach, crumbs)]
        later = [row for row in remaining if row not in near and _is_later(row.breadcrumb, [each.breadcrumb for each in near])]
        joined = self._joined(workspace)
        return tuple(replace(of_model(row, model), joins=joins_of(row.breadcrumb, joined)) for row in (*near, *later))


def _passages_of(
    rows: Iterable[StoredBreadcrumb], session: str, span: tuple[Place, Place], model: str
) -> tuple[PassageFacts, ...]:
    """The facts of all passages of the span."""
    of_session = (row for row in rows if session in (row.breadcrumb.session, EVERY_SESSION))
    within = sorted(
        (row for row in of_session if span[0] < row.breadcrumb.place <= span[1]), key=lambda row: by_place(row.breadcrumb)
    )
    return tuple(
        PassageFacts(
            row.breadcrumb.session,
            row.breadcrumb.place,
            ordinal,
            row.breadcrumb.schema,
            passage.terms,
            passage.vector if row.model == model else b"",
        )
        for row in within
        for ordinal, passage in enumerate(row.passages)
    )


def _is_near(crumb: Breadcrumb, places: Mapping[str, frozenset[Place]], reach: int, others: Iterable[Breadcrumb]) -> bool:
    """Whether it stands at one of the places, or up to `reach` breadcrumbs of its session and incarnation beside one."""
    incarnation = [
        other.place for other in others if other.session == crumb.session and other.place.incarnation == crumb.place.incarnation
    ]
    for place in places.get(crumb.session, ()):
        before = sorted((each for each in incarnation if each < place), reverse=True)[:reach]
        after = sorted(each for each in incarnation if each > place)[:reach]
        if place.incarnation == crumb.place.incarnation and crumb.place in (place, *before, *after):
            return True
    return False


def _is_later(crumb: Breadcrumb, near: Iterable[Breadcrumb]) -> bool:
    """Whether it is a higher version or a tombstone of one of these, in its session or in none."""
    near = [each for each in near if crumb.session in (each.session, NO_SESSION)]
    return any((crumb.id == each.id and crumb.version > each.version) or crumb.removes == each.id for each in near)
