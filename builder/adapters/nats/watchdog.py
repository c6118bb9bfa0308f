"""Restores a deleted durable or stream and subscribes again; FastStream would wait without end and without an error."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import ConsumerInfo
from nats.js.errors import APIError, NotFoundError

from builder.adapters.nats.errors import Throttle
from builder.adapters.nats.topology import FLOOR, Topology, all_breadcrumbs, ensure_durable, ensure_streams
from builder.domain.breadcrumb import Place
from builder.domain.errors import Misconfigured, Unavailable
from builder.ports.store import Progress

log = logging.getLogger("builder.nats")

PROBE_SECONDS = 1.0
"""How long `/readyz` waits for the broker."""


class Watchdog:
    """Checks the durable and its stream."""

    def __init__(
        self,
        js: JetStreamContext,
        topology: Topology,
        ledger: Progress,
        rebind: Callable[[], Awaitable[None]],
        measure: Callable[[], Awaitable[None]],
        every: float,
    ) -> None:
        """rebind: subscribes again. measure: looks at the streams' sizes. every: seconds between two checks."""
        self._js = js
        self._topology = topology
        self._durable = all_breadcrumbs(topology.installation)
        self._ledger = ledger
        self._rebind = rebind
        self._measure = measure
        self._every = every
        self.incarnation = 0
        self._bound = True
        self._problem = ""
        self._throttle = Throttle()
        self.floor = Place(0, 0)
        """Every delivery up to this place is settled, as of the last look."""
        self.pending = 0
        """Breadcrumbs that no worker has fetched."""
        self.oldest: datetime | None = None
        """Stream time of the first unsettled breadcrumb; since when the broker does not answer, where none was known."""

    async def prepare(self) -> float:
        """Streams and durable, before the first subscription; returns the durable's ack wait in seconds."""
        self.incarnation = await ensure_streams(self._js, self._topology)
        floor = await self._ledger.watermark(*FLOOR)
        info = await ensure_durable(self._js, self._topology, floor, self.incarnation)
        if not floor.incarnation:
            # The floor marks the installation as used: if the durable is lost now, the next one goes on from here.
            await self._note(info)
        return float(info.config.ack_wait or self._topology.ack_wait)

    async def state(self) -> str:
        """What is wrong with the streams and the durable right now; empty when nothing is."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await self._js.consumer_info(self._durable.stream, self._durable.durable)
        except (APIError, NatsError, OSError) as error:
            return f"no answer about the durable {self._durable.durable}: {error!r}"
        return self._problem

    @property
    def alive(self) -> bool:
        """Whether the last check found or restored everything. An unavailable broker is no reason to kill the service."""
        return not self._problem

    async def run(self) -> None:
        """Check until cancelled."""
        while True:
            await asyncio.sleep(self._every)
            await self.check()

    async def check(self) -> None:
        """Note the ack floor; bring back what is missing. Never raises."""
        try:
            info = await self._look()
            if info is None or not self._bound:
                await self._restore()
            else:
                self.pending = info.num_pending or 0
                self.oldest = await self._oldest(info)
                await self._measure()
                await self._note(info)
            self._problem = ""
        except Misconfigured as error:
            self._problem = str(error)
            log.error("%s", error)  # noqa: TRY400 - the sentence says it all
        except (APIError, NatsError, OSError, Unavailable) as error:
            # The connection reconnects by itself. What comes meanwhile is not known, so the age grows from now on.
            self.oldest = self.oldest or datetime.now(UTC)
            if self._throttle.is_open():
                log.warning("the watchdog got no answer: %r", error)

    async def _look(self) -> ConsumerInfo | None:
        """The durable; None when it is gone, or when its stream is another one, which another worker may have made.

        Raises `Misconfigured` when a stream no longer keeps a promise.
        """
        if await ensure_streams(self._js, self._topology) != self.incarnation:
            return None
        try:
            info: ConsumerInfo = await self._js.consumer_info(self._durable.stream, self._durable.durable)
        except NotFoundError:
            return None
        return info

    async def _oldest(self, info: ConsumerInfo) -> datetime | None:
        if not (info.num_pending or info.num_ack_pending) or info.ack_floor is None:
            return None
        try:
            message = await self._js.get_msg(
                self._durable.stream, seq=info.ack_floor.stream_seq + 1, subject=self._durable.subjects[0], next=True
            )
        except NotFoundError:
            return None
        return message.time

    async def _restore(self) -> None:
        name = self._durable.durable
        log.warning("the durable %s is gone, or its stream is another one; going on after the last settled breadcrumb", name)
        self._bound, self._problem = False, "the subscription could not be brought back"
        await self.prepare()
        await self._rebind()
        self._bound = True
        log.warning("the durable %s was bound again", name)

    async def _note(self, info: ConsumerInfo) -> None:
        self.floor = Place(self.incarnation, info.ack_floor.stream_seq if info.ack_floor else 0)
        await self._ledger.advance(*FLOOR, self.floor)
