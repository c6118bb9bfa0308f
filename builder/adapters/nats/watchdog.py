"""Restores a deleted durable or stream and subscribes again; FastStream would wait without end and without an error."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import ConsumerInfo
from nats.js.errors import APIError, NotFoundError

from builder.adapters.nats.clock import PROBE_SECONDS
from builder.adapters.nats.topology import (
    BREADCRUMBS,
    CONTEXTS,
    DEADLETTERS,
    FLOOR,
    PROBES,
    PROBES_SUBJECT,
    Topology,
    all_breadcrumbs,
    ensure_durable,
    ensure_streams,
)
from builder.connection.opening import reason
from builder.domain.breadcrumb import Place
from builder.domain.errors import Misconfigured, Unavailable
from builder.ports.store import Progress
from builder.wire.subjects import DEFAULT, Installation

log = logging.getLogger("builder.nats")


class Watchdog:
    """Checks the durable and its stream."""

    def __init__(
        self,
        js: JetStreamContext,
        topology: Topology,
        ledger: Progress,
        measure: Callable[[], Awaitable[None]],
    ) -> None:
        """measure: looks at the streams' sizes."""
        self._js = js
        self._topology = topology
        self._durable = all_breadcrumbs(topology.installation)
        self._ledger = ledger
        self.rebind: Callable[[], Awaitable[None]] | None = None
        """Subscribes again; None until there is a subscription."""
        self._measure = measure
        self._incarnation = 0
        self._bound = True
        self._problem = ""
        self.floor = Place(0, 0)
        """Every delivery up to this place is settled, as of the last look."""
        self.pending = 0
        self.oldest: datetime | None = None
        """Stream time of the first unsettled breadcrumb; since when the broker does not answer, where none was known."""

    def incarnation(self) -> int:
        """The incarnation of BREADCRUMBS as it is now."""
        return self._incarnation

    async def prepare(self) -> float:
        """Streams and durable, before the first subscription; returns the durable's ack wait in seconds."""
        self._incarnation = await ensure_streams(self._js, self._topology)
        floor = await self._ledger.watermark(*FLOOR)
        info = await ensure_durable(self._js, self._topology, floor, self._incarnation)
        if not floor.incarnation:
            # The floor marks the installation as used: if the durable is lost now, the next one goes on from here.
            await self._note(info)
        return float(info.config.ack_wait or self._topology.ack_wait)

    async def state(self) -> str:
        """The problem of the streams and the durable right now; empty when there is none."""
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

    async def check(self) -> None:
        """Note the ack floor; bring back what is missing. Raises `Misconfigured` and `Unavailable`."""
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
            raise
        except (APIError, NatsError, OSError, Unavailable) as error:
            # The connection reconnects by itself. What comes meanwhile is not known, so the age grows from now on.
            self.oldest = self.oldest or datetime.now(UTC)
            raise Unavailable(f"the broker does not answer: {error!r}") from error

    async def _look(self) -> ConsumerInfo | None:
        """The durable; None when it is gone, or when its stream is another one, which another worker may have made.

        Raises `Misconfigured` when a stream no longer keeps a promise.
        """
        if await ensure_streams(self._js, self._topology) != self._incarnation:
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
        if self.rebind:
            await self.rebind()
        self._bound = True
        log.warning("the durable %s was bound again", name)

    async def _note(self, info: ConsumerInfo) -> None:
        self.floor = Place(self._incarnation, info.ack_floor.stream_seq if info.ack_floor else 0)
        await self._ledger.advance(*FLOOR, self.floor)


class Probe:
    """Figures of the streams' storage for operators."""

    def __init__(self, js: JetStreamContext, installation: Installation = DEFAULT) -> None:
        self._js = js
        self._installation = installation
        self.sizes: Mapping[str, int] = {BREADCRUMBS: 0, CONTEXTS: 0, DEADLETTERS: 0}
        """Bytes by stream, as of the last `measure`."""
        self.letters = 0
        """Messages of DEADLETTERS, as of the last `measure`."""

    async def state(self) -> str:
        """Why the broker refuses what is published, empty when it takes it."""
        own = self._installation
        try:
            await self._js.publish(own.subject(PROBES_SUBJECT), b"", timeout=PROBE_SECONDS, stream=own.stream(PROBES))
        except APIError as error:
            return f"the broker stores nothing now: {error.description}; free its storage, or raise its limits"
        except (NatsError, OSError) as error:
            return f"the broker did not take a message: {reason(error)}; look at its disk, its load and the connection"
        return ""

    async def measure(self) -> None:
        """Look at the sizes. Raises errors of nats-py."""
        states = {name: (await self._js.stream_info(self._installation.stream(name))).state for name in self.sizes}
        self.sizes = {name: int(state.bytes) for name, state in states.items()}
        self.letters = int(states[DEADLETTERS].messages)
