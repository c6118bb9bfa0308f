"""The contract of `Embedder` and `Engine`: one suite over every engine, with real models."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import numpy as np
import numpy.typing as npt
import pytest

from builder.adapters.embedding import Endpoint
from builder.adapters.embedding.engine import Engine
from builder.adapters.embedding.onnx import OnnxEmbedder
from builder.domain.errors import Unavailable
from builder.extras.endpoints.engine import EndpointEmbedder
from builder.extras.sentence_transformers.prepare import ReferenceEmbedder, source_folder
from tests.embedding_server import WIDTH, EmbeddingServer
from tests.models import prepared

pytestmark = pytest.mark.apart

SENTENCE = "My sister moved to Lisbon in 2019 because of the new job."
AWKWARD = {
    "empty": "",
    "blank": " \t\n\u3000",
    "NUL": "a\x00b",
    "only NUL": "\x00",
    "emoji": "👩‍👩‍👧‍👦🇩🇪👍🏽",
    "lone surrogate": "half of a pair: \ud83d",
    "zero width": "\u200b\u200d\ufeff",
    "no spaces": "a" * 200_000,
    "han": "我昨天在上海买了一张去北京的火车票。" * 5_000,
    "long": "The meeting moves from Tuesday to Wednesday. " * 5_000,
    "special token": "[SEP] [CLS] [PAD] <|endoftext|>",
}


def values(vector: bytes) -> npt.NDArray[np.float64]:
    return np.frombuffer(vector, "<f2").astype(np.float64)


@pytest.fixture(scope="module", params=["onnx", "reference", "endpoint"])
def loaded(request: pytest.FixtureRequest) -> Iterator[Engine | None]:
    """None for the endpoint: its connections belong to the loop of a test."""
    if request.param == "endpoint":
        yield None
        return
    made = OnnxEmbedder(prepared().folder) if request.param == "onnx" else ReferenceEmbedder(source_folder())
    asyncio.run(made.ready())
    yield made
    asyncio.run(made.aclose())


@pytest.fixture
async def embedder(loaded: Engine | None) -> AsyncIterator[Engine]:
    if loaded:
        yield loaded
        return
    async with EmbeddingServer().running() as url:
        engine = EndpointEmbedder(Endpoint(url=url, model="many/tongues", dimensions=WIDTH))
        yield engine
        await engine.aclose()


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
async def test_every_text_has_a_vector_of_unit_length(embedder: Engine, text: str) -> None:
    vector = values(await embedder.embed(text))
    assert vector.shape == (384,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)


async def test_the_same_text_gives_the_same_bytes(embedder: Engine) -> None:
    assert await embedder.embed(SENTENCE) == await embedder.embed(SENTENCE)


async def test_a_vector_does_not_depend_on_what_was_embedded_before(embedder: Engine) -> None:
    alone = await embedder.embed(SENTENCE)
    for text in AWKWARD.values():
        await embedder.embed(text)
    assert await embedder.embed(SENTENCE) == alone


async def test_concurrent_calls_give_what_single_calls_give(embedder: Engine) -> None:
    texts = [f"{SENTENCE} " * (n % 7) + f"Note {n}." for n in range(20)]
    single = [await embedder.embed(text) for text in texts]
    assert await asyncio.gather(*map(embedder.embed, texts)) == single
    assert len(set(single)) == len(texts)


async def test_a_text_is_cut_at_the_window_of_the_engine(embedder: Engine) -> None:
    window = "word " * 254
    assert await embedder.embed(window) == await embedder.embed(window + "something else altogether")
    assert await embedder.embed("word " * 253) != await embedder.embed("word " * 252 + "else")


async def test_blank_texts_are_one_text(embedder: Engine) -> None:
    assert await embedder.embed("") == await embedder.embed(" \n\t ")


async def test_what_means_the_same_is_closer_than_what_does_not(embedder: Engine) -> None:
    question = values(await embedder.embed("When did your sister relocate?"))
    near = values(await embedder.embed(SENTENCE))
    far = values(await embedder.embed("The pod was killed while it loaded the index."))
    assert question @ near > question @ far + 0.2


async def test_the_event_loop_is_free_while_the_engine_works(embedder: Engine) -> None:
    running = asyncio.ensure_future(embedder.embed("word " * 250))
    turns = 0
    while not running.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 1


async def test_the_model_id_names_engine_precision_and_weights(embedder: Engine) -> None:
    name, precision, weights = embedder.model.rsplit("/", 2)
    assert name
    assert precision in {"int8", "fp32", "endpoint"}
    assert len(bytes.fromhex(weights)) == 6


@pytest.mark.parametrize("engine", ["onnx", "reference"])
async def test_a_closed_engine_is_unavailable(engine: str) -> None:
    embedder = OnnxEmbedder(prepared().folder) if engine == "onnx" else ReferenceEmbedder(source_folder())
    await embedder.ready()
    await embedder.aclose()
    await embedder.aclose()
    with pytest.raises(Unavailable, match="is closed"):
        await embedder.embed(SENTENCE)
