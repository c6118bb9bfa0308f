"""Purging: what has expired is erased from stream, contexts, caches and store, by the command or on a schedule."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Protocol

from builder.domain.breadcrumb import Place
from builder.domain.erasure import Ended
from builder.worker.erasure import Erasure
from builder.worker.jobs import PACE, Observer, give_way, heartbeat
from builder.worker.log import StoredLog

log = logging.getLogger("builder.worker.purging")

LAST_RUN = ("", "context-builder-purge")
"""Key of the ledger under which the time of the last purge is noted, in whole seconds, as the sequence of a place."""
POLL_SECONDS = 60.0
"""Between two looks whether a purge is due."""
RENEW_SECONDS = 2.0
"""Between two renewals of the lock while this worker purges."""
CLOCK_SECONDS = 5.0
"""Above this difference of two clocks nothing is purged."""
BATCH_ROWS = 64
"""Rows that leave the store in one transaction."""

Kind = tuple[str, str]
NOTHING: Mapping[Kind, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeRow:
    """Expired breadcrumbs of one schema in a workspace."""

    workspace: str
    schema: str
    breadcrumbs: int
    bytes: int
    messages: int = 0
    contexts: int = 0


class Purging:
    """Erases what has expired. A second run erases nothing more; an end in the middle is made good by the next run."""

    def __init__(self, log: StoredLog, erasure: Erasure) -> None:
        self._log = log
        self._erasure = erasure

    async def run(self, moment: datetime) -> tuple[PurgeRow, ...]:
        """Erase what has expired at the moment; a row a workspace and schema. Raises `Unavailable`.

        The store goes last: what an end in the middle leaves there is found again.
        """
        over, archive = await self._log.store.ended(moment), self._erasure.archive
        messages: Counter[Kind] = Counter()
        contexts: Counter[Kind] = Counter()
        for batch in _batches(over):
            await give_way(lambda: self._log.busy, PACE)
            for item in batch:
                crumb = item.breadcrumb
                messages[_kind(item)] += await archive.delete_at(crumb.place, crumb.workspace, crumb.session, crumb.id)
        for kind in sorted(set(map(_kind, over))):
            ids = frozenset(item.breadcrumb.id for item in over if _kind(item) == kind)
            contexts[kind] += (await self._erasure.contexts.replace(kind[0], ids)).total()
        for batch in _batches(over):
            await give_way(lambda: self._log.busy, PACE)
            await self._log.store.purge(batch)
        await self._log.store.vacuum(frozenset(item.breadcrumb.session for item in over))
        for workspace in sorted({item.breadcrumb.workspace for item in over}):
            ids = frozenset(item.breadcrumb.id for item in over if item.breadcrumb.workspace == workspace)
            self._erasure.drop(workspace, ids)
        return purge_rows(over, messages, contexts)


def purge_rows(
    over: tuple[Ended, ...], messages: Mapping[Kind, int] = NOTHING, contexts: Mapping[Kind, int] = NOTHING
) -> tuple[PurgeRow, ...]:
    """A row a workspace and schema, sorted. messages, contexts: how many were erased."""
    sizes: Counter[Kind] = Counter()
    for item in over:
        sizes[_kind(item)] += item.size
    return tuple(
        PurgeRow(
            workspace=kind[0],
            schema=kind[1],
            breadcrumbs=breadcrumbs,
            bytes=sizes[kind],
            messages=messages.get(kind, 0),
            contexts=contexts.get(kind, 0),
        )
        for kind, breadcrumbs in sorted(Counter(map(_kind, over)).items())
    )


class Lock(Protocol):
    """One worker at a time holds it. No method raises."""

    async def claim(self) -> bool:
        """Whether this worker holds it now."""
        ...

    async def renew(self) -> None:
        """Hold it longer: it goes to another worker some seconds after a crash."""
        ...

    async def release(self) -> None:
        """Let another worker claim it."""
        ...


class PurgeSchedule:
    """Purges this worker's store whenever its last purge is old enough. The time survives a restart."""

    def __init__(
        self,
        purging: Purging,
        log: StoredLog,
        every: timedelta,
        lock: Lock,
        observer: Observer,
        ahead: Callable[[], Awaitable[float]],
    ) -> None:
        """ahead: seconds by which this computer's clock is ahead of the broker's; raises `Unavailable`."""
        self._ahead = ahead
        self._purging = purging
        self._log = log
        self._every = every
        self._lock = lock
        self._observer = observer

    async def look(self) -> bool:
        """Purge when it is due and no other worker does; whether it was done. Raises `Unavailable`.

        A store that was never purged, or was purged by a clock that was ahead, waits for one whole period. While this computer's
        clock and the broker's differ nothing is purged: nobody knows which one is wrong.
        """
        now, last = self._log.now(), await self._log.store.watermark(*LAST_RUN)
        if not last.sequence or last.sequence > now.timestamp():
            await self._note(now, last.incarnation + 1)
            return False
        is_due = now.timestamp() >= last.sequence + self._every.total_seconds()
        if not is_due or not await self._agrees() or not await self._lock.claim():
            return False
        try:
            async with heartbeat(self._lock.renew, RENEW_SECONDS):
                rows = await self._purging.run(now)
            await self._note(now, last.incarnation)
        finally:
            await self._lock.release()
        self._report(rows)
        return True

    def _report(self, rows: tuple[PurgeRow, ...]) -> None:
        breadcrumbs = sum(row.breadcrumbs for row in rows)
        self._observer.purged(breadcrumbs)
        log.info(
            "purged what has expired: %d breadcrumbs of %d bytes, %d messages, %d contexts",
            *(breadcrumbs, *(sum(getattr(row, name) for row in rows) for name in ("bytes", "messages", "contexts"))),
        )

    async def _agrees(self) -> bool:
        ahead = await self._ahead()
        if abs(ahead) > CLOCK_SECONDS:
            log.warning("nothing is purged while this computer's clock and the broker's differ by %s s", f"{abs(ahead):,.0f}")
        return abs(ahead) <= CLOCK_SECONDS

    async def _note(self, moment: datetime, incarnation: int) -> None:
        """incarnation: of the notes; a higher one replaces a note that lies in the future."""
        await self._log.store.advance(*LAST_RUN, Place(incarnation, int(moment.timestamp())))


def _batches(over: tuple[Ended, ...]) -> list[tuple[Ended, ...]]:
    return [over[start : start + BATCH_ROWS] for start in range(0, len(over), BATCH_ROWS)]


def _kind(item: Ended) -> Kind:
    return item.breadcrumb.workspace, item.breadcrumb.schema
