"""A cache of vectors by the hash of their text."""

import asyncio
from functools import partial
from hashlib import blake2b

from cachetools import LRUCache
from typing_extensions import override

from builder.adapters.embedding.engine import Engine
from builder.ports.models import Embedder


class CachedEmbedder(Embedder):
    """Keeps the vectors used last; simultaneous requests for one text share one inference.

    Errors are not kept. A cancelled request does not cancel the inference of the others.
    """

    def __init__(self, inner: Engine, size: int) -> None:
        """size: vectors kept, about 1 KB each; 0 = none."""
        self._inner = inner
        self._vectors: LRUCache[bytes, bytes] = LRUCache(size)
        self._running: dict[bytes, asyncio.Task[bytes]] = {}

    @property
    @override
    def model(self) -> str:
        return self._inner.model

    async def ready(self, seconds: float | None = None) -> None:
        """Wait for the inner engine as `Engine.ready` does."""
        await self._inner.ready(seconds)

    @override
    async def embed(self, text: str) -> bytes:
        key = _key(text)
        if (vector := self._vectors.get(key)) is not None:
            return vector
        return await asyncio.shield(self._running.get(key) or self._start(key, text))

    def forget(self) -> int:
        """Drop all vectors, because a vector does not tell from which text it was made; returns how many."""
        count = len(self._vectors)
        self._vectors.clear()
        return count

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
        if not task.cancelled() and not task.exception() and self._vectors.maxsize:
            self._vectors[key] = task.result()


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
