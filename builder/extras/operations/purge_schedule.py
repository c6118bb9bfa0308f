"""The purge on a schedule: a job of the service, for which one worker at a time has its turn."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from typing_extensions import override

from builder.adapters.nats.clock import BrokerClock
from builder.app.line import JobParts
from builder.connection.heartbeat import heartbeat
from builder.domain.breadcrumb import Place
from builder.extras.operations.purge_lock import PurgeLock
from builder.extras.operations.purging import Purging
from builder.worker.jobs import BackgroundJob, Observer

log = logging.getLogger("builder.purging")

LAST_RUN = ("", "context-builder-purge")
"""Key of the ledger under which the time of the last purge is noted, in whole seconds, as the sequence of a place."""
RENEW_SECONDS = 2.0
"""Between two renewals of the lock while this worker purges."""


@asynccontextmanager
async def open_job(parts: JobParts) -> AsyncIterator["PurgeSchedule | None"]:
    """None where the settings leave it to the command."""
    settings, connection = parts.settings, parts.connection
    if not settings.worker.purge_hours:
        yield None
        return
    yield PurgeSchedule(
        Purging(parts.host.log, parts.erasure),
        timedelta(hours=settings.worker.purge_hours),
        PurgeLock(connection.jetstream(), settings.installation, settings.nats.replicas),
        parts.observer,
        BrokerClock(connection, settings.installation).state,
    )


class PurgeSchedule(BackgroundJob):
    """Purges this worker's store whenever its last purge is old enough. The time survives a restart."""

    every = 60.0

    def __init__(
        self,
        purging: Purging,
        period: timedelta,
        lock: PurgeLock,
        observer: Observer,
        clocks: Callable[[], Awaitable[str]],
    ) -> None:
        """clocks: how this computer's clock and the broker's differ, "" = they do not; raises `Unavailable`."""
        self._purging = purging
        self._period = period
        self._lock = lock
        self._observer = observer
        self._clocks = clocks

    @override
    async def run_once(self) -> None:
        """Purge when it is due and no other worker does. Raises `Unavailable`.

        A store that was never purged, or was purged by a clock that was ahead, waits for one whole period. While this computer's
        clock and the broker's differ nothing is purged: nobody knows which one is wrong.
        """
        now, last = self._purging.log.now(), await self._purging.log.store.watermark(*LAST_RUN)
        if not last.sequence or last.sequence > now.timestamp():
            await self._note(now, last.incarnation + 1)
            return
        is_due = now.timestamp() >= last.sequence + self._period.total_seconds()
        if not is_due or not await self._agrees() or not await self._lock.claim():
            return
        try:
            async with heartbeat(self._lock.renew, RENEW_SECONDS):
                rows = await self._purging.run(now)
            await self._note(now, last.incarnation)
        finally:
            await self._lock.release()
        breadcrumbs = sum(row.breadcrumbs for row in rows)
        self._observer.purged(breadcrumbs)
        log.info(
            "purged what has expired: %d breadcrumbs of %d bytes, %d messages, %d contexts",
            *(breadcrumbs, *(sum(getattr(row, name) for row in rows) for name in ("bytes", "messages", "contexts"))),
        )

    async def _agrees(self) -> bool:
        if problem := await self._clocks():
            log.warning("%s", problem)
        return not problem

    async def _note(self, moment: datetime, incarnation: int) -> None:
        """incarnation: of the notes; a higher one replaces a note that lies in the future."""
        await self._purging.log.store.advance(*LAST_RUN, Place(incarnation, int(moment.timestamp())))
