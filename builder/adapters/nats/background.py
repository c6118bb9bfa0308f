"""Deliveries that nobody waits for: each kind has a durable of its own on BREADCRUMBS, beside the one of the inbox."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.errors import APIError

from builder.adapters.nats.delivery import InWork, NatsDelivery
from builder.adapters.nats.errors import Throttle
from builder.adapters.nats.topology import FLOOR, Listening, Topology, current_incarnation, ensure_durable
from builder.client.pull import Pull
from builder.domain.breadcrumb import Place
from builder.domain.errors import Misconfigured, Unavailable
from builder.ports.broker import Delivery
from builder.ports.store import Progress

log = logging.getLogger("builder.nats")

POLL_SECONDS = 2.0
"""Between two looks whether the durable is there, or has to be."""


class BackgroundInbox:
    """Hands the deliveries of one durable to their work, while they are needed."""

    def __init__(
        self,
        connection: Client,
        topology: Topology,
        ledger: Progress,
        incarnation: Callable[[], int],
        listening: Listening,
        process: Callable[[Delivery], Coroutine[Any, Any, None]],
        is_needed: Callable[[], bool] = lambda: True,
    ) -> None:
        """process: settles a delivery and never raises. incarnation: of the stream as the watchdog knows it."""
        self._connection = connection
        self._js = connection.jetstream()
        self._topology = topology
        self._durable = listening
        self._process = process
        self._ledger = ledger
        self._incarnation = incarnation
        self._is_needed = is_needed
        self._in_work = InWork(listening.places, self._freed)
        self._pull: Pull | None = None
        self._throttle = Throttle()

    async def run(self) -> None:
        """Until cancelled; then `close`."""
        while True:
            try:
                await self.look()
            except (APIError, NatsError, OSError, Misconfigured, Unavailable) as error:
                if self._throttle.is_open():
                    reason = error if isinstance(error, Misconfigured) else repr(error)
                    log.warning("durable %s delivers nothing: %s", self._durable.durable, reason)
            await asyncio.sleep(POLL_SECONDS)

    async def close(self) -> None:
        """Hand back what is in work."""
        await self._stop()
        await self._in_work.finish(0)

    async def look(self) -> None:
        """Make the durable while it is needed, from where it was last, else from where the inbox was; otherwise fetch nothing.

        Of a stream that was made again nothing is fetched before the watchdog knows it: its places would be those of the old one.
        Raises errors of nats-py, `Misconfigured` and `Unavailable`.
        """
        incarnation, key = await current_incarnation(self._js, self._topology.installation), ("", self._durable.ledger)
        if not self._is_needed() or incarnation != self._incarnation():
            await self._stop()
            return
        floor = await self._ledger.watermark(*key)
        start = floor if floor.incarnation else await self._ledger.watermark(*FLOOR)
        info = await ensure_durable(self._js, self._topology, start, incarnation, self._durable)
        await self._ledger.advance(*key, Place(incarnation, info.ack_floor.stream_seq if info.ack_floor else 0))
        if self._pull is None:
            durable = (self._durable.stream, self._durable.durable)
            self._pull = Pull(self._connection, durable, lambda: self._in_work.free, self._begin)
            await self._pull.open()

    async def _stop(self) -> None:
        pull, self._pull = self._pull, None
        if pull is not None:
            await pull.unsubscribe()

    async def _begin(self, message: Msg) -> None:
        delivery = NatsDelivery(message, self._incarnation())
        self._in_work.begin(delivery, self._process(delivery))

    def _freed(self) -> None:
        if self._pull is not None:
            self._pull.look()
