"""Tombstones that another worker took: this worker's store is erased too, within seconds and without a trigger in the session."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from time import monotonic

from builder.domain.breadcrumb import ORIGIN, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected, Unavailable
from builder.ports.store import Progress
from builder.worker.resilience import UnexpectedError, guard

log = logging.getLogger("builder.worker.removals")

LAST_TOMBSTONE = ("", "context-builder-tombstones")
"""Key of the ledger under which the last tombstone is noted."""
POLL_SECONDS = 2.0
"""Between two looks for tombstones."""
REPEAT_SECONDS = 60.0
"""Until a tombstone is followed once more: a delivery or a walk may have read the message before another worker deleted it, and
remembered it since."""


class Removals:
    """Follows the tombstones of all workspaces."""

    def __init__(
        self,
        tombstones: Callable[[Place, Place], AsyncIterator[StreamMessage]],
        last: Callable[[], Awaitable[Place]],
        read: Callable[[StreamMessage], Breadcrumb],
        erase: Callable[[Breadcrumb], Awaitable[object]],
        ledger: Progress,
        poll_seconds: float = POLL_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """tombstones: between two places, both exclusive. last: place of the newest breadcrumb. read: raises `Rejected`.

        erase: takes what a tombstone removes from this worker's store and caches.
        """
        self._tombstones = tombstones
        self._last = last
        self._read = read
        self._erase = erase
        self._ledger = ledger
        self._poll_seconds = poll_seconds
        self._clock = clock
        self._reached = ORIGIN
        self._lock = asyncio.Lock()
        self._repeats: deque[tuple[float, Breadcrumb]] = deque()
        """When to follow each tombstone once more, in order; the ledger stays in front of them."""

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await guard(self.look(), log, "following tombstones")
            except (Unavailable, UnexpectedError) as error:
                log.debug("tombstones wait: %s", error)
            await asyncio.sleep(self._poll_seconds)

    async def look(self) -> int:
        """Erase for each tombstone since the last look; returns how many. Raises `Unavailable`.

        A store that never looked begins at the end: what it remembers later is no longer in the stream.
        """
        async with self._lock:
            return await self._look()

    async def _look(self) -> int:
        self._reached = max(self._reached, await self._ledger.watermark(*LAST_TOMBSTONE))
        last = await self._last()
        count = 0
        await self._repeat()
        if self._reached.incarnation:
            async for message in self._tombstones(self._reached, last.next):
                count += await self._remove(message)
                self._reached = message.place
        self._reached = max(self._reached, last)
        await self._ledger.advance(*LAST_TOMBSTONE, self._repeats[0][1].place.previous if self._repeats else self._reached)
        return count

    async def _repeat(self) -> None:
        while self._repeats and self._repeats[0][0] <= self._clock():
            await self._erase(self._repeats[0][1])
            self._repeats.popleft()

    async def _remove(self, message: StreamMessage) -> bool:
        try:
            tombstone = self._read(message)
        except Rejected:
            return False
        if tombstone.removes:
            await self._erase(tombstone)
            self._repeats.append((self._clock() + REPEAT_SECONDS, tombstone))
        return bool(tombstone.removes)
