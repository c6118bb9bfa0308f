"""A delivery of a broker in memory."""

import asyncio
from collections.abc import Callable

from typing_extensions import override

from builder.adapters.memory.streams import KeptMessage
from builder.connection.names import REPLAY_HEADER
from builder.domain.breadcrumb import Place, StreamMessage
from builder.ports.stream import Delivery
from builder.wire.traces import trace_of


class MemoryDelivery(Delivery):
    """A message of the stream of breadcrumbs."""

    def __init__(self, message: KeptMessage, incarnation: int, again: Callable[[], object]) -> None:
        """again: called for another delivery."""
        self._again = again
        self._arrival = StreamMessage(
            subject=message.subject,
            data=message.data,
            place=Place(incarnation, message.seq),
            received_at=message.time,
            replay=(message.headers or {}).get(REPLAY_HEADER) == "1",
            trace=trace_of(message.headers),
        )

    @property
    @override
    def arrival(self) -> StreamMessage:
        return self._arrival

    @override
    async def ack(self) -> None:
        """Nothing waits for it."""

    @override
    async def retry(self, delay: float) -> None:
        asyncio.get_running_loop().call_later(delay, self._again)

    @override
    async def reject(self) -> None:
        """Nothing waits for it."""

    @override
    async def keep_alive(self) -> None:
        """Nothing times out."""
