"""A pull consumer without pauses.

`fetch` of nats-py may hold a message back until its time-out; `Pull` hands over each at once and requests more in time.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

log = logging.getLogger("builder.client")

HEARTBEAT, ENDS = "100", frozenset({"404", "408"})
"""Heartbeat; no messages, time over."""
MISSING_HEARTBEATS = 3
"""After so many the open request counts as lost."""
DRAIN_SECONDS = 2.0
"""For the server to confirm the end."""
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PullTimes:
    """Times in seconds."""

    expires: float = 30.0
    """Lifetime of one request."""
    heartbeat: float = 5.0
    pause: float = 0.25
    """After a refusal, and between two checks for a new connection."""


class Pull:
    """The messages of one consumer, from `open` to `unsubscribe`."""

    def __init__(
        self,
        connection: Client,
        consumer: tuple[str, str],
        free: Callable[[], int],
        take: Callable[[Msg], Awaitable[None]],
        pace: PullTimes = PullTimes(),
    ) -> None:
        """consumer: stream and name.

        free: number of messages that may come. take: starts work and returns. Call `look` when a slot is free.
        """
        self._connection = connection
        self._next = f"$JS.API.CONSUMER.MSG.NEXT.{consumer[0]}.{consumer[1]}"
        self._free = free
        self._take = take
        self._pace = pace
        self._inbox = connection.new_inbox()
        self._number = 0
        self._outstanding = 0
        self._last_heartbeat = 0.0
        self._reconnects = connection.stats["reconnects"]
        self._refusal = ""
        self._closed = False
        self._due = asyncio.Event()
        self._subscription: Subscription | None = None
        self._asking: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Begin. Raises errors of nats-py."""
        # The open request bounds what comes, so nothing needs to be dropped on its way.
        self._subscription = await self._connection.subscribe(
            f"{self._inbox}.*", cb=self._hear, pending_msgs_limit=0, pending_bytes_limit=0
        )
        self._asking = asyncio.create_task(self._ask_for_ever())

    def look(self) -> None:
        """A slot may be free."""
        self._due.set()

    def renew(self) -> None:
        """The open request may be lost."""
        self._outstanding = 0
        self._due.set()

    async def unsubscribe(self) -> None:
        """Late messages return to the server. Never raises."""
        if self._closed:
            return
        self._closed = True
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})
        if self._subscription is not None and not self._connection.is_closed:
            with contextlib.suppress(NatsError, OSError, TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await self._subscription.drain()  # type: ignore[no-untyped-call]

    async def _ask_for_ever(self) -> None:
        while True:
            self._due.clear()
            if self._is_lost():
                self._outstanding = 0
            if self._outstanding <= 0 and self._refusal:
                await asyncio.sleep(self._pace.pause)
            # nats-py buffers what is published without a connection: each buffered request would be valid after the reconnection.
            if self._connection.is_connected and self._outstanding <= 0 < (free := self._free()):
                await self._ask(free)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pace.pause):
                    await self._due.wait()

    def _is_lost(self) -> bool:
        before, self._reconnects = self._reconnects, self._connection.stats["reconnects"]
        silence = asyncio.get_running_loop().time() - self._last_heartbeat
        return before != self._reconnects or silence > MISSING_HEARTBEATS * self._pace.heartbeat

    async def _ask(self, batch: int) -> None:
        self._number += 1
        self._outstanding, self._last_heartbeat = batch, asyncio.get_running_loop().time()
        request = {
            "batch": batch,
            "expires": int(self._pace.expires * _NANOSECONDS),
            "idle_heartbeat": int(self._pace.heartbeat * _NANOSECONDS),
        }
        try:
            await self._connection.publish(self._next, json.dumps(request).encode(), reply=self._reply)
        except (NatsError, OSError) as error:
            self._end(repr(error))

    @property
    def _reply(self) -> str:
        return f"{self._inbox}.{self._number}"

    async def _hear(self, message: Msg) -> None:
        self._last_heartbeat = asyncio.get_running_loop().time()
        if not message.reply:  # messages of the stream have an ack subject, statuses of the server have none
            self._note(message)
        elif self._closed:
            await message.nak()
        else:
            self._outstanding, self._refusal = self._outstanding - 1, ""
            await self._take(message)
            self._due.set()

    def _note(self, message: Msg) -> None:
        headers = message.headers or {}
        status = headers.get("Status", "")
        if status == HEARTBEAT:
            self._refusal = ""
        elif message.subject == self._reply:
            self._end("" if status in ENDS else " ".join([status, *headers.get("Description", "no description").split()]))

    def _end(self, refusal: str) -> None:
        if refusal and refusal != self._refusal:
            log.warning("the broker hands out no messages (%s); asking on", refusal)
        self._outstanding, self._refusal = 0, refusal
        self._due.set()
