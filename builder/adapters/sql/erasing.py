"""Erasing rows, and their words in the files of the database."""

from datetime import datetime

from typing_extensions import override

from builder.adapters.sql import bookkeeping
from builder.adapters.sql.connection import Access, Connection
from builder.adapters.sql.rows import breadcrumbs
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.errors import Unavailable
from builder.domain.recall import Ended
from builder.ports.store import Eraser


class SqlEraser(Eraser):
    """The part of the store that erases."""

    _connection: Connection

    def __init__(self) -> None:
        super().__init__()
        self._vacuumed: set[str] = set()
        """Sessions of which nothing was erased since: a process that ended may have left words of the others in the files."""

    @override
    async def erase(self, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
        crumbs = await self._connection.run(
            lambda sql: bookkeeping.erase(sql, workspace, session, identity, until), workspace=workspace
        )
        self._vacuumed -= {crumb.session for crumb in crumbs}
        return crumbs

    @override
    async def traces(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        return breadcrumbs(await self._connection.rows(bookkeeping.TRACES, (workspace, identity), workspace))

    @override
    async def ended(self, moment: datetime) -> tuple[Ended, ...]:
        return await self._connection.run(lambda sql: bookkeeping.ended(sql, moment), Access.READING)

    @override
    async def purge(self, ended: tuple[Ended, ...]) -> None:
        await self._connection.run(lambda sql: bookkeeping.purge(sql, ended))
        self._vacuumed -= {item.breadcrumb.session for item in ended}

    @override
    async def vacuum(self, sessions: frozenset[str]) -> None:
        waiting = sessions - self._vacuumed
        if waiting:
            self._vacuumed |= waiting
            try:
                await self._connection.flush(sorted(waiting))
            except Unavailable:
                self._vacuumed -= waiting
                raise
