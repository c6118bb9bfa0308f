"""Erasing rows, and their words in the files of the database."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from typing_extensions import override

from builder.adapters.sql import bookkeeping
from builder.adapters.sql.connection import Access, Connection
from builder.adapters.sql.rows import breadcrumbs
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.erasure import Ended
from builder.ports.store import Eraser

FLUSHES = 2
"""Flushes of what was erased: at once, and with the repeat a minute later, when whoever still read the rows has ended."""


class SqlEraser(Eraser):
    """The part of the store that erases."""

    _connection: Connection

    def __init__(self) -> None:
        super().__init__()
        self._flushes: Counter[str] = Counter()
        """Flushes of a session since its first erasure here: a process that ended may have left words of it in the files."""
        self._flushing = asyncio.Lock()

    @override
    async def erase(self, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
        crumbs = await self._connection.run(
            lambda sql: bookkeeping.erase(sql, workspace, session, identity, until), workspace=workspace
        )
        self._forget_flushes(crumbs)
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
        self._forget_flushes(item.breadcrumb for item in ended)

    @override
    async def vacuum(self, sessions: frozenset[str]) -> None:
        async with self._flushing:
            waiting = [session for session in sorted(sessions) if self._flushes[session] < FLUSHES]
            if waiting:
                await self._connection.flush(waiting)
                self._flushes.update(waiting)

    def _forget_flushes(self, crumbs: Iterable[Breadcrumb]) -> None:
        for crumb in crumbs:
            del self._flushes[crumb.session]
