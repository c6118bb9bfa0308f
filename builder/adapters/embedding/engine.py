"""An engine makes vectors in a thread or process of its own, or at an endpoint."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Protocol

from typing_extensions import override

from builder.domain.errors import Unavailable
from builder.ports.models import NO_MODEL


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
