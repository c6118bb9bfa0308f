"""Prefixes, and a cache of vectors by text."""

import asyncio
from functools import partial
from hashlib import blake2b

from cachetools import LRUCache
from typing_extensions import override

from builder.adapters.embedding.engine import Engine
from builder.ports.models import Embedder

Side = tuple[str, str]
"""Prefix and endpoint `input_type`."""
PLAIN: Side = ("", "")


class CachedEmbedder(Embedder):
    """Caches vectors by text; concurrent requests share one inference, which no cancellation stops."""

    def __init__(self, inner: Engine, size: int, query: Side = PLAIN, document: Side = PLAIN) -> None:
        """size: vectors kept, about 1 KB each; 0 = none."""
        self.batch = inner.batch
        self._inner = inner
        self._query, self._document = query, document
        self._vectors: LRUCache[bytes, bytes] = LRUCache(size)
        self._running: dict[bytes, asyncio.Task[bytes]] = {}

    @property
    @override
    def model(self) -> str:
        if self._document == PLAIN:
            return self._inner.model
        return f"{self._inner.model}/{_key(repr(self._document)).hex()[:6]}"  # other documents are other vectors

    async def ready(self, seconds: float | None = None) -> None:
        """Wait for the inner engine as `Engine.ready` does."""
        await self._inner.ready(seconds)

    @override
    async def embed(self, text: str, *, is_query: bool = False) -> bytes:
        prefix, input_type = self._query if is_query else self._document
        text = prefix + text
        key = _key(f"{input_type}\0{text}")
        if (vector := self._vectors.get(key)) is not None:
            return vector
        return await asyncio.shield(self._running.get(key) or self._start(key, text, input_type))

    def forget(self) -> int:
        """Drop all vectors; returns their number."""
        count = len(self._vectors)
        self._vectors.clear()
        return count

    async def aclose(self) -> None:
        """After running requests."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await self._inner.aclose()

    def _start(self, key: bytes, text: str, input_type: str) -> asyncio.Task[bytes]:
        task = asyncio.ensure_future(self._inner.embed(text, input_type))
        self._running[key] = task
        task.add_done_callback(partial(self._settle, key))
        return task

    def _settle(self, key: bytes, task: asyncio.Task[bytes]) -> None:
        del self._running[key]
        if not task.cancelled() and not task.exception() and self._vectors.maxsize:
            self._vectors[key] = task.result()


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
