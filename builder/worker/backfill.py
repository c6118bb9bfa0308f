"""Later filling: what was remembered without vectors, as it is long or the engine was away, gets them beside the worker.

Contexts that were published stay as they are; the next ones find more.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Unavailable
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.ports.store import MissingVectors
from builder.remember.ingest import Pause
from builder.worker.resilience import Backoff, UnexpectedError, guard

log = logging.getLogger("builder.worker.backfill")

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds after a failure, growing with every failure in a row."""
REST = 0.5
"""Seconds between two looks at what lacks vectors."""
WAIT, WAITS = 0.005, 40
"""Seconds of one wait for what is in work, and the most waits in front of a passage."""
PAGE = 16
"""Breadcrumbs read at once: each may have a body of a megabyte."""


class Backfill:
    """Walks over what lacks vectors, oldest place first, for ever. missing: how many there were at the last look."""

    def __init__(
        self,
        backlog: MissingVectors,
        with_vectors: Callable[[StoredBreadcrumb, Pause], Awaitable[StoredBreadcrumb]],
        busy: Callable[[], bool],
    ) -> None:
        """with_vectors raises `Unavailable`. busy: whether deliveries are in work, whose embeddings come first."""
        self._busy = busy
        self.missing = 0
        self._backlog = backlog
        self._with_vectors = with_vectors
        self._failing = False
        self._circuit = Backoff(FIRST_PAUSE, LONGEST_PAUSE)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.walk()
            except Unavailable as error:
                log.warning("what lacks vectors cannot be filled in: %s", error)
                await asyncio.sleep(self._circuit.open())
            await asyncio.sleep(REST)

    async def walk(self) -> None:
        """Try everything that lacks vectors once. Raises `Unavailable` when the store is away."""
        after: Breadcrumb | None = None
        while rows := await self._look(after):
            for row in rows:
                await self._fill(row)
                after = row.breadcrumb

    async def _look(self, after: Breadcrumb | None) -> tuple[StoredBreadcrumb, ...]:
        await self._count()
        return await self._backlog.missing_vectors(PAGE, after) if self.missing else ()

    async def _count(self) -> None:
        self.missing = await self._backlog.count_missing_vectors()
        if self._failing and not self.missing:
            self._failing = False
            log.info("no breadcrumb lacks vectors any more")

    def _failed(self) -> None:
        """Say so once: what is only long has its vectors in a moment."""
        if not self._failing:
            self._failing = True
            log.info("%d breadcrumbs lack vectors, which are filled in as soon as the engine gives them", self.missing)

    async def _fill(self, row: StoredBreadcrumb) -> None:
        """A failure may be the engine's or this text's: pause, and go on with the next one, so that no text blocks others."""
        doing = f"filling in {row.breadcrumb.id} at {row.breadcrumb.place.sequence}"
        try:
            await guard(self._filled(row), log, doing)
        except (Unavailable, UnexpectedError) as error:
            log.debug("%s waits: %s", doing, error)
            self._failed()
        else:
            self._circuit.close()
            return
        await asyncio.sleep(self._circuit.open())
        await self._count()  # a page of failures may take minutes

    async def _filled(self, row: StoredBreadcrumb) -> None:
        await self._backlog.fill_vectors(await self._with_vectors(row, self._give_way))

    async def _give_way(self) -> None:
        """For a while, and not for ever: under steady load vectors must come too."""
        waits = 0
        while self._busy() and waits < WAITS:
            waits += 1
            await asyncio.sleep(WAIT)
