"""Parts of all engines: a thread, prefixes, endpoint settings, a cache by text."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Protocol

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache
from typing_extensions import override

from builder.domain.errors import Unavailable
from builder.ports.models import NO_MODEL, Embedder

Side = tuple[str, str]
"""Prefix and endpoint `input_type`."""
PLAIN: Side = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible endpoint."""

    url: str
    """As https://host/v1; without credentials."""
    model: str
    key: str = field(default="", repr=False)
    """Printable ASCII; never logged."""
    dimensions: int
    """Values of a vector; longer ones are cut."""
    batch: int = 64
    timeout: float = 10.0
    """For all attempts and parts together."""
    attempts: int = 3
    first_pause: float = 0.25
    """Doubled before each further attempt."""


class Encoder(Protocol):
    """A loaded model, in the calling thread."""

    def encode(self, text: str) -> bytes:
        """The unit vector as little-endian float16 bytes, shape (dimension,)."""


class Engine(Protocol):
    """Makes vectors in a thread or process of its own."""

    batch: int = 1

    @property
    def model(self) -> str:
        """As `Embedder.model`."""

    async def ready(self, seconds: float | None = None) -> None:
        """Wait until loaded. timeout: seconds. Raises `Misconfigured`."""

    async def embed(self, text: str, input_type: str = "") -> bytes:
        """input_type: for endpoints. Raises `Unavailable`."""

    async def aclose(self) -> None:
        """Finish running requests and end the thread."""


class EngineThread(Engine):
    """Runs an encoder text by text in one thread."""

    def __init__(self, model: str, load: Callable[[], Encoder], failures: tuple[type[Exception], ...]) -> None:
        """load: runs in the thread, raises `Misconfigured`. failures: become `Unavailable`."""
        self._model = model
        self._failures = failures
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedding")
        self._loading = self._executor.submit(load)
        self._closed = False

    @property
    @override
    def model(self) -> str:
        return self._model

    @override
    async def ready(self, seconds: float | None = None) -> None:
        await asyncio.to_thread(wait, {self._loading}, seconds)
        if self._loading.done():
            self._loading.result()

    @override
    async def embed(self, text: str, input_type: str = "") -> bytes:
        if self._closed:
            raise Unavailable("the embedding engine is closed: start the service again")
        encoder = self._encoder()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, encoder.encode, text)
        except self._failures as exc:
            raise Unavailable(f"the embedding engine failed on a text of {len(text)} characters ({exc}): try again") from exc

    def _encoder(self) -> Encoder:
        if not self._loading.done():
            raise Unavailable("the embedding engine is still loading: it is asked again")
        failed = self._loading.exception()
        if failed:
            raise Unavailable(f"the embedding engine could not be loaded: {failed}; start the service again") from failed
        return self._loading.result()

    @override
    async def aclose(self) -> None:
        self._closed = True
        self._executor.shutdown()
        self._loading = Future()  # whoever still knows the engine holds no model
        self._loading.set_exception(Unavailable("the embedding engine is closed"))


def unit(values: npt.NDArray[np.float32]) -> bytes:
    """Float32 values (dimension,) → unit vector as little-endian float16 bytes; zeros → the first axis.

    Raises `Unavailable` unless finite.
    """
    length = float(np.linalg.norm(values))
    if not np.isfinite(length):
        raise Unavailable(f"the model gave a vector of length {length}: prepare it again, or use another model")
    if length == 0:
        values, length = np.eye(1, len(values), dtype=np.float32)[0], 1.0
    return (values / length).astype("<f2").tobytes()


def well_formed(text: str) -> str:
    """Lone surrogates become U+FFFD: no tokeniser takes them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class NoEmbedder(Engine):
    """`Engine` that is never there."""

    @property
    @override
    def model(self) -> str:
        return NO_MODEL

    @override
    async def ready(self, seconds: float | None = None) -> None:
        """Return at once."""

    @override
    async def embed(self, text: str, input_type: str = "") -> bytes:
        raise Unavailable(
            f"no embedding engine is configured for a text of {len(text)} characters; set CONTEXT_BUILDER_EMBEDDING__ENGINE"
        )

    @override
    async def aclose(self) -> None:
        """Do nothing."""


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
