"""Vectors that were asked for before, by content."""

import asyncio
from collections import OrderedDict
from functools import partial
from hashlib import blake2b
from typing import Protocol

from builder.ports.models import Embedder


class Engine(Embedder, Protocol):
    """An embedder that loads and works in a thread of its own. Its model is known at once."""

    async def ready(self, seconds: float | None = None) -> None:
        """Wait until it is loaded, at most so long; None: as long as it takes. Raises `Misconfigured` when it cannot be."""

    def close(self) -> None:
        """Finish what was asked for and end the thread."""


class CachedEmbedder:
    """`Embedder` that remembers the `size` vectors used last; requests for one text at one time share one inference.

    Errors are not remembered. A waiter that is cancelled leaves the inference to the others.
    """

    def __init__(self, inner: Engine, size: int) -> None:
        """`size`: vectors kept (about 1 KB each); 0 keeps none."""
        self._inner = inner
        self._size = size
        self._known: OrderedDict[bytes, bytes] = OrderedDict()
        self._running: dict[bytes, asyncio.Task[bytes]] = {}

    @property
    def model(self) -> str:
        """Id of the inner engine."""
        return self._inner.model

    async def ready(self, seconds: float | None = None) -> None:
        """Wait for the inner engine; see `Engine`."""
        await self._inner.ready(seconds)

    async def embed(self, text: str) -> bytes:
        """The inner engine's vector. Raises `Unavailable`."""
        key = _key(text)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        return await asyncio.shield(self._running.get(key) or self._start(key, text))

    def forget(self) -> int:
        """Let go of all vectors: which of them were made from a text, or from a question that quoted it, nobody knows."""
        gone = len(self._known)
        self._known.clear()
        return gone

    async def aclose(self) -> None:
        """Wait for what is running and close the inner engine."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        self._inner.close()

    def _start(self, key: bytes, text: str) -> asyncio.Task[bytes]:
        task = asyncio.ensure_future(self._inner.embed(text))
        self._running[key] = task
        task.add_done_callback(partial(self._settle, key))
        return task

    def _settle(self, key: bytes, task: asyncio.Task[bytes]) -> None:
        del self._running[key]
        if task.cancelled() or task.exception():
            return
        self._keep(key, task.result())

    def _keep(self, key: bytes, vector: bytes) -> None:
        self._known[key] = vector
        if len(self._known) > self._size:
            self._known.popitem(last=False)


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
