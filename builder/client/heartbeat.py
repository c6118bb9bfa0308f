"""Signs of life of contexts at work, from a thread with a connection of its own: a handler may block its loop."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager

from nats.aio.client import Client as Connection
from nats.errors import Error as NatsError
from typing_extensions import override

from builder.domain.errors import BuilderError

log = logging.getLogger("builder.client")

IN_PROGRESS = b"+WPI"
"""The server's word for "not yet"."""
Open = Callable[[], Awaitable[Connection]]


class Heartbeat(AbstractAsyncContextManager[None]):
    """Runs during the block."""

    def __init__(self, open_connection: Open, every: float, addresses: Callable[[], Iterable[str]]) -> None:
        """every: seconds. addresses: acknowledgement subjects of what is at work; called in the thread."""
        self._open = open_connection
        self._every = every
        self._addresses = addresses
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    @override
    async def __aenter__(self) -> None:
        self._thread.start()

    @override
    async def __aexit__(self, *_: object) -> None:
        """Ends the thread and its connection."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._beat_until_stopped())
        finally:
            self._loop.close()

    async def _beat_until_stopped(self) -> None:
        while not self._stopping.is_set():
            try:
                connection = await self._open()
            except (BuilderError, NatsError, OSError) as error:
                log.info("no connection for signs of life: %s", error)
                await self._pause()
                continue
            try:
                await self._beat(connection)
            finally:
                with contextlib.suppress(NatsError, OSError):
                    await connection.close()

    async def _beat(self, connection: Connection) -> None:
        while not self._stopping.is_set() and not connection.is_closed:
            with contextlib.suppress(NatsError, OSError):
                for address in self._addresses():
                    await connection.publish(address, IN_PROGRESS)
            await self._pause()

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._every):
                await self._stopping.wait()
