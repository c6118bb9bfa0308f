"""`Delivery` on JetStream."""

import logging
from collections.abc import Awaitable

from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from builder.adapters.nats.stream import arrival_of
from builder.domain.breadcrumb import StreamMessage

log = logging.getLogger("builder.nats")

UNSETTLED = "could not %s breadcrumb %d: %r; the broker will deliver it again"


class NatsDelivery:
    """A message of a pull consumer; see the port."""

    def __init__(self, message: Msg, incarnation: int) -> None:
        self._message = message
        self.arrival: StreamMessage = arrival_of(message, incarnation)

    async def ack(self) -> None:
        """See the port."""
        await self._settle("ack", self._message.ack())

    async def retry(self, delay: float) -> None:
        """See the port."""
        await self._settle("retry", self._message.nak(delay=delay))

    async def reject(self) -> None:
        """See the port."""
        await self._settle("reject", self._message.term())

    async def keep_alive(self) -> None:
        """See the port."""
        await self._settle("keep alive", self._message.in_progress())

    async def _settle(self, how: str, settling: Awaitable[None]) -> None:
        try:
            await settling
        except (NatsError, OSError) as error:
            log.warning(UNSETTLED, how, self.arrival.place.sequence, error)
