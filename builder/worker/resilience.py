"""What keeps the loops alive: a heartbeat, a circuit that pauses, a lock a session, and the one place where bugs end."""

import asyncio
import contextlib
import logging
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from builder.domain.errors import BuilderError

Value = TypeVar("Value")


@contextlib.asynccontextmanager
async def heartbeat(beat: Callable[[], Awaitable[None]], every: float) -> AsyncIterator[None]:
    """Call `beat` every so many seconds while the block runs."""

    async def beats() -> None:
        while True:
            await asyncio.sleep(every)
            await beat()

    task = asyncio.create_task(beats())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})  # unlike awaiting it, this lets a cancellation of the block itself through


class UnexpectedError(Exception):
    """Something outside the error tree was raised; its traceback is in the log."""


async def guard(work: Awaitable[Value], log: logging.Logger, doing: str) -> Value:
    """Await `work`; log any unexpected exception with its traceback and raise it as `UnexpectedError`.

    The only place that catches everything; `Rejected`, `Unavailable` and `Misconfigured` pass through.
    """
    try:
        return await work
    except BuilderError:
        raise
    except Exception as error:
        log.error("a bug in %s:\n%s", doing, frames(error))  # noqa: TRY400 - an exception's text may quote what people wrote
        raise UnexpectedError(type(error).__name__) from error


def frames(error: BaseException) -> str:
    """The traceback of an exception and of its causes, with their types and without their texts."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    above = f"{frames(cause)}\nwhich led to\n" if cause else ""
    return f"{above}{''.join(traceback.format_tb(error.__traceback__))}{type(error).__name__}"


class Backoff:
    """Pauses the loop while a dependency is away, twice as long with every failure in a row."""

    def __init__(self, first: float, longest: float) -> None:
        """first, longest: seconds."""
        self._first = first
        self._longest = longest
        self._failures = 0
        self._until = 0.0

    def open(self) -> float:
        """Note a failure; returns the pause in seconds."""
        loop = asyncio.get_running_loop()
        if loop.time() >= self._until:
            self._failures += 1
        delay = min(self._first * 2.0 ** min(self._failures - 1, 16), self._longest)
        self._until = loop.time() + delay
        return delay

    def close(self) -> None:
        """Note a success."""
        self._failures = 0
        self._until = 0.0

    async def closed(self) -> None:
        """Wait until work may go on."""
        loop = asyncio.get_running_loop()
        while (left := self._until - loop.time()) > 0:
            await asyncio.sleep(left)


class KeyedLock:
    """One lock a key, first come first served; a key nobody uses costs nothing."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[asyncio.Lock, int]] = {}

    @contextlib.asynccontextmanager
    async def of(self, key: str) -> AsyncIterator[None]:
        """Hold the key's lock."""
        lock, users = self._held.get(key, (asyncio.Lock(), 0))
        self._held[key] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            _, users = self._held[key]
            if users == 1:
                del self._held[key]
            else:
                self._held[key] = (lock, users - 1)
