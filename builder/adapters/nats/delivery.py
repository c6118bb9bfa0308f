"""`Delivery` on JetStream, and deliveries in work side by side."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from typing_extensions import override

from builder.adapters.nats.stream import arrival_of
from builder.domain.breadcrumb import StreamMessage
from builder.ports.broker import Delivery

log = logging.getLogger("builder.nats")

UNSETTLED = "could not %s breadcrumb %d: %r; the broker will deliver it again"


class NatsDelivery(Delivery):
    """A message of a pull consumer."""

    def __init__(self, message: Msg, incarnation: int) -> None:
        self._message = message
        self._arrival = arrival_of(message, incarnation)

    @property
    @override
    def arrival(self) -> StreamMessage:
        return self._arrival

    @override
    async def ack(self) -> None:
        await self._settle("ack", self._message.ack())

    @override
    async def retry(self, delay: float) -> None:
        await self._settle("retry", self._message.nak(delay=delay))

    @override
    async def reject(self) -> None:
        await self._settle("reject", self._message.term())

    @override
    async def keep_alive(self) -> None:
        await self._settle("keep alive", self._message.in_progress())

    async def _settle(self, how: str, settling: Awaitable[None]) -> None:
        try:
            await settling
        except (NatsError, OSError) as error:
            log.warning(UNSETTLED, how, self._arrival.place.sequence, error)


class InWork:
    """A limited number of deliveries at once."""

    def __init__(self, places: int, freed: Callable[[], None]) -> None:
        """places: the limit. freed: called when a delivery has ended."""
        self._places = places
        self._freed = freed
        self._working: dict[asyncio.Task[None], Delivery] = {}

    @property
    def free(self) -> int:
        """Places that are left."""
        return self._places - len(self._working)

    def begin(self, delivery: Delivery, work: Coroutine[Any, Any, None]) -> None:
        """Begin now, so that it is kept alive and keeps its turn in its session."""
        task = asyncio.create_task(work)
        self._working[task] = delivery
        task.add_done_callback(self._end)

    async def finish(self, seconds: float) -> None:
        """Give what was begun its time, and hand the rest back: the next worker has it at once."""
        if self._working:
            await asyncio.wait(self._working, timeout=max(seconds, 0))
        unfinished = dict(self._working)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        for task, delivery in unfinished.items():
            if task.cancelled():
                await delivery.retry(0)

    def _end(self, task: asyncio.Task[None]) -> None:
        del self._working[task]
        self._freed()
