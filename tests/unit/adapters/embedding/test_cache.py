"""The cache before an engine: one inference a text, whoever asks and whatever goes wrong."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from typing_extensions import override

from builder.adapters.embedding import CachedEmbedder, open_embedder
from builder.adapters.embedding.engine import Engine
from builder.domain.errors import Unavailable
from tests.models import prepared, shared_engine

NAME = "all-MiniLM-L6-v2"


class Recording(Engine):
    """The real engine, which notes what it is asked, then waits for `gate` when told so, and fails `failures` times."""

    def __init__(self, failures: int = 0) -> None:
        self.asked: list[str] = []
        self.types: list[str] = []
        self.failures = failures
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()
        self.engine = shared_engine()

    @property
    @override
    def model(self) -> str:
        return self.engine.model

    async def ready(self, seconds: float | None = None) -> None:
        await self.engine.ready(seconds)

    async def embed(self, text: str, input_type: str = "") -> bytes:
        self.types.append(input_type)
        self.asked.append(text)
        self.begun.set()
        await self.gate.wait()
        if len(self.asked) <= self.failures:
            raise Unavailable("the engine is away")
        return await self.engine.embed(text)

    async def aclose(self) -> None:
        """The real one goes on: all tests of the process share it."""


@pytest.fixture
async def recording() -> AsyncIterator[Recording]:
    engine = Recording()
    await engine.ready()
    yield engine
    await engine.aclose()


async def test_a_text_that_was_asked_before_is_not_embedded_again(recording: Recording) -> None:
    cache = CachedEmbedder(recording, size=10)
    assert await cache.embed("hello") == await cache.embed("hello") == await recording.engine.embed("hello")
    assert recording.asked == ["hello"]
    assert cache.model == prepared().model


async def test_concurrent_requests_for_one_text_share_one_inference(recording: Recording) -> None:
    cache = CachedEmbedder(recording, size=10)
    vectors = await asyncio.gather(*(cache.embed("hello") for _ in range(20)))
    assert recording.asked == ["hello"]
    assert len(set(vectors)) == 1


async def test_without_a_cache_concurrent_requests_still_share_one_inference(recording: Recording) -> None:
    cache = CachedEmbedder(recording, size=0)
    await asyncio.gather(*(cache.embed("hello") for _ in range(20)))
    await cache.embed("hello")
    assert recording.asked == ["hello", "hello"]


async def test_the_text_used_longest_ago_is_forgotten_first(recording: Recording) -> None:
    cache = CachedEmbedder(recording, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await cache.embed(text)
    assert recording.asked == ["a", "b", "c", "b"]


async def test_an_error_reaches_every_waiter_and_is_not_remembered() -> None:
    engine = Recording(failures=1)
    await engine.ready()
    cache = CachedEmbedder(engine, size=10)
    results = await asyncio.gather(*(cache.embed("hello") for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [Unavailable] * 3
    assert await cache.embed("hello") == await engine.engine.embed("hello")
    assert engine.asked == ["hello", "hello"]
    await cache.aclose()


async def test_a_cancelled_waiter_leaves_the_inference_to_the_others(recording: Recording) -> None:
    cache = CachedEmbedder(recording, size=10)
    recording.gate.clear()
    first, second = (asyncio.create_task(cache.embed("hello")) for _ in range(2))
    await recording.begun.wait()
    first.cancel()
    recording.gate.set()
    assert await second == await recording.engine.embed("hello")
    assert first.cancelled()
    assert recording.asked == ["hello"]


async def test_closing_the_cache_finishes_what_runs_and_closes_the_engine() -> None:
    cache = open_embedder("onnx", NAME, prepared().folder.parent, cache_size=10)
    await cache.ready()
    running = asyncio.create_task(cache.embed("hello"))
    await asyncio.sleep(0)
    await cache.aclose()
    assert len(await running) == 768
    with pytest.raises(Unavailable, match="is closed"):
        await cache.embed("another text")


async def test_what_was_let_go_of_is_asked_of_the_engine_again(recording: Recording) -> None:
    cached = CachedEmbedder(recording, 10)
    first = await cached.embed("The vault opens with a code.")
    assert cached.forget() == 1
    assert cached.forget() == 0
    assert await cached.embed("The vault opens with a code.") == first
    assert len(recording.asked) == 2
    await cached.aclose()
