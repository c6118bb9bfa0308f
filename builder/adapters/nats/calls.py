"""The inbox of the tool calls: a durable of its own on BREADCRUMBS, whose messages wait for their time-outs at the broker."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import UTC, datetime

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.errors import APIError

from builder.adapters.nats.delivery import NatsDelivery
from builder.adapters.nats.topology import BREADCRUMBS, CALLS_DURABLE, calls_durable_is_there, make_calls_durable
from builder.client.pull import Pull
from builder.tool_timeouts import ToolTimeouts

PLACES = 16
"""Deliveries in work at once."""
LOOK_SECONDS = 2.0
"""Between two looks whether the durable is there, or has to be."""


class NatsCalls:
    """Hands the breadcrumbs that may make calls to the time-outs, from when somebody waits for tools."""

    def __init__(self, connection: Client, timeouts: ToolTimeouts, ack_wait: float, incarnation: Callable[[], int]) -> None:
        """timeouts: takes the deliveries. ack_wait: seconds. incarnation: of the stream as it is now."""
        self._js = connection.jetstream()
        self._timeouts = timeouts
        self._ack_wait = ack_wait
        self._incarnation = incarnation
        self._working: set[asyncio.Task[None]] = set()
        self._is_open = False
        self._pull = Pull(connection, (BREADCRUMBS, CALLS_DURABLE), lambda: PLACES - len(self._working), self._begin)

    async def run(self) -> None:
        """Until cancelled. What is in work then is delivered again by the broker."""
        try:
            while True:
                with contextlib.suppress(APIError, NatsError, OSError):  # the watchdog writes the line
                    await self._look()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            await self._pull.unsubscribe()
            for task in self._working:
                task.cancel()
            await asyncio.gather(*self._working, return_exceptions=True)

    async def _look(self) -> None:
        """Hear the durable where it is there. It is made once somebody waits for tools, and made again when it was lost.

        Once made it is heard for ever: what came while nobody waited must not be taken for open when somebody does.
        """
        found = await calls_durable_is_there(self._js)
        if not found and self._timeouts.is_wanted:
            await make_calls_durable(self._js, datetime.now(UTC) - self._timeouts.patience, self._ack_wait)
            self._pull.renew()
            found = True
        if found and not self._is_open:
            await self._pull.open()
            self._is_open = True

    async def _begin(self, message: Msg) -> None:
        task = asyncio.create_task(self._timeouts.process(NatsDelivery(message, self._incarnation())))
        self._working.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._working.discard(task)
        self._pull.look()
