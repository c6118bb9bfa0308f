"""`Delivery` on JetStream, its message as the worker reads it, and deliveries in work side by side."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from typing_extensions import override

from builder.connection.names import REPLAY_HEADER, plain_subject
from builder.domain.breadcrumb import Place, StreamMessage
from builder.ports.stream import Delivery
from builder.wire.traces import trace_of

log = logging.getLogger("builder.nats")

MAX_OPEN_BYTES = 64 * 1024 * 1024
"""All open deliveries together; above it no more are fetched."""
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
    """Deliveries that are open, from a limited number of sessions."""

    def __init__(self, places: int, freed: Callable[[], None], most: int = 0) -> None:
        """places: sessions that are served at once. most: deliveries that may be open, beside MAX_OPEN_BYTES; 0 = as many.

        freed: called when a delivery has ended.
        """
        self._places = places
        self._most = most or places
        self._freed = freed
        self._working: dict[asyncio.Task[None], Delivery] = {}
        self._sessions = Counter[str]()
        self._bytes = 0

    @property
    def free(self) -> int:
        """How many more may come. Those of one session take one place, so that its burst leaves room for the others."""
        if self._bytes >= MAX_OPEN_BYTES:
            return 0
        return min(self._places - len(self._sessions), self._most - len(self._working))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is open."""
        return not self._working

    def begin(self, delivery: Delivery, work: Coroutine[Any, Any, None]) -> None:
        """Begin now, so that it is kept alive and keeps its turn in its session."""
        task = asyncio.create_task(work)
        self._working[task] = delivery
        self._sessions[_session(delivery)] += 1
        self._bytes += len(delivery.arrival.data)
        task.add_done_callback(self._end)

    async def finish(self, seconds: float) -> None:
        """Give what was begun its time, and hand the rest back: the next worker has it at once."""
        unfinished = {task: delivery for task, delivery in self._working.items() if not task.done()}
        first = {_session(delivery): task for task, delivery in reversed(unfinished.items())}
        for task in unfinished.keys() - first.values():
            task.cancel()  # it waits for the first one of its session
        if unfinished:
            await asyncio.wait(first.values(), timeout=max(seconds, 0))
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        for task, delivery in unfinished.items():
            if task.cancelled():
                await delivery.retry(0)

    def _end(self, task: asyncio.Task[None]) -> None:
        delivery = self._working.pop(task)
        self._bytes -= len(delivery.arrival.data)
        session = _session(delivery)
        self._sessions[session] -= 1
        if not self._sessions[session]:
            del self._sessions[session]
        self._freed()


def _session(delivery: Delivery) -> str:
    return ".".join(delivery.arrival.subject.split(".", 3)[1:3])


SHORT_ACK_TOKENS = 9
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def arrival_of(message: Msg, incarnation: int) -> StreamMessage:
    """An arrival of a delivered message."""
    return StreamMessage(
        subject=plain_subject(message.subject),
        data=message.data,
        place=Place(incarnation, message.metadata.sequence.stream),
        received_at=_stream_time(message.reply),
        replay=is_replay(message.headers),
        deliveries=message.metadata.num_delivered,
        trace=trace_of(message.headers),
    )


def is_replay(headers: Mapping[str, str] | None) -> bool:
    """Whether the message was imported: nobody answers it."""
    return (headers or {}).get(REPLAY_HEADER) == "1"


def _stream_time(reply: str) -> datetime:
    """The stream's clock out of the ack subject, to the microsecond.

    nats-py goes through a float and is off by one now and then, so one breadcrumb would have two times: as delivered and
    as read by a direct get. ADR-15: nine tokens, or at least eleven with domain and account.
    """
    tokens = reply.split(".")
    nanoseconds = int(tokens[7] if len(tokens) == SHORT_ACK_TOKENS else tokens[9])
    return EPOCH + timedelta(microseconds=nanoseconds // 1000)
