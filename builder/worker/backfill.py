"""Backfill: breadcrumbs that were remembered without vectors, because they are long or the engine was away, get them later.

Published contexts stay as they are; the next ones find more.
"""

import asyncio
import logging

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Unavailable
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import MissingVectors
from builder.remember.memory import Ingest
from builder.worker.jobs import PACE, Backoff, Pace, UnexpectedError, give_way, guard
from builder.worker.log import StoredLog

log = logging.getLogger("builder.worker.backfill")

PAGE_ROWS = 16
"""Breadcrumbs read at once: each may have a body of a megabyte."""


class Backfill:
    """Walks over what lacks vectors, oldest place first."""

    def __init__(self, log: StoredLog, ingest: Ingest, pace: Pace = PACE) -> None:
        """log: while it is busy, the embeddings of its deliveries come first."""
        self.missing = 0
        self._log = log
        self._store: MissingVectors = log.store
        self._ingest = ingest
        self._pace = pace
        self._is_failing = False
        self._backoff = Backoff(pace.pauses)

    async def walk(self) -> None:
        """Try everything that lacks vectors once. Raises `Unavailable` when the store is away."""
        after: Breadcrumb | None = None
        while rows := await self._look(after):
            for row in rows:
                await self._fill(row)
                after = row.breadcrumb

    async def _look(self, after: Breadcrumb | None) -> tuple[StoredBreadcrumb, ...]:
        await self._count()
        return await self._store.missing_vectors(PAGE_ROWS, after) if self.missing else ()

    async def _count(self) -> None:
        self.missing = await self._store.count_missing_vectors()
        if self._is_failing and not self.missing:
            self._is_failing = False
            log.info("no breadcrumb lacks vectors any more")

    async def _fill(self, row: StoredBreadcrumb) -> None:
        """A failure may be the engine's or this text's: pause, then go on with the next one, so that no text blocks others."""
        doing = f"filling in {row.breadcrumb.id} at {row.breadcrumb.place.sequence}"
        try:
            await guard(self._fill_vectors(row), log, doing)
        except (Unavailable, UnexpectedError) as error:
            log.debug("%s waits: %s", doing, error)
            if not self._is_failing:  # said once: a breadcrumb that is only long has its vectors in a moment
                self._is_failing = True
                log.info("%d breadcrumbs lack vectors, which are filled in as soon as the engine gives them", self.missing)
        else:
            self._backoff.note_success()
            return
        await asyncio.sleep(self._backoff.note_failure())
        await self._count()  # a page of failures may take minutes

    async def _fill_vectors(self, row: StoredBreadcrumb) -> None:
        await self._store.fill_vectors(await self._ingest.with_vectors(row, self._give_way))

    async def _give_way(self) -> None:
        await give_way(lambda: self._log.busy, self._pace)
