"""The contract of `Embedder` and `Engine`: one suite over every engine, with real models."""

import asyncio
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from builder.adapters.embedding.onnx import OnnxEmbedder
from builder.adapters.embedding.prepare import source_folder
from builder.adapters.embedding.reference import ReferenceEmbedder
from builder.domain.errors import Unavailable
from builder.ports.models import Embedder
from tests.models import prepared

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


@pytest.fixture(scope="module", params=["onnx", "reference"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    made = OnnxEmbedder(prepared().folder) if request.param == "onnx" else ReferenceEmbedder(source_folder())
    asyncio.run(made.ready())
    yield made
    made.close()


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
async def test_every_text_has_a_vector_of_unit_length(embedder: Embedder, text: str) -> None:
    vector = values(await embedder.embed(text))
    assert vector.shape == (384,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)


async def test_the_same_text_gives_the_same_bytes(embedder: Embedder) -> None:
    assert await embedder.embed(SENTENCE) == await embedder.embed(SENTENCE)


async def test_a_vector_does_not_depend_on_what_was_embedded_before(embedder: Embedder) -> None:
    alone = await embedder.embed(SENTENCE)
    for text in AWKWARD.values():
        await embedder.embed(text)
    assert await embedder.embed(SENTENCE) == alone


async def test_concurrent_calls_give_what_single_calls_give(embedder: Embedder) -> None:
    texts = [f"{SENTENCE} " * (n % 7) + f"Note {n}." for n in range(20)]
    single = [await embedder.embed(text) for text in texts]
    assert await asyncio.gather(*map(embedder.embed, texts)) == single
    assert len(set(single)) == len(texts)


async def test_a_text_is_cut_at_the_window_of_the_engine(embedder: Embedder) -> None:
    window = "word " * 254
    assert await embedder.embed(window) == await embedder.embed(window + "something else altogether")
    assert await embedder.embed("word " * 253) != await embedder.embed("word " * 252 + "else")


async def test_blank_texts_are_one_text(embedder: Embedder) -> None:
    assert await embedder.embed("") == await embedder.embed(" \n\t ")


async def test_what_means_the_same_is_closer_than_what_does_not(embedder: Embedder) -> None:
    question = values(await embedder.embed("When did your sister relocate?"))
    near = values(await embedder.embed(SENTENCE))
    far = values(await embedder.embed("The pod was killed while it loaded the index."))
    assert question @ near > question @ far + 0.2


async def test_the_event_loop_is_free_while_the_engine_works(embedder: Embedder) -> None:
    running = asyncio.ensure_future(embedder.embed("word " * 250))
    turns = 0
    while not running.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 1


def test_the_model_id_names_engine_precision_and_weights(embedder: Embedder) -> None:
    name, precision, weights = embedder.model.split("/")
    assert name
    assert precision in {"int8", "fp32"}
    assert len(bytes.fromhex(weights)) == 6


@pytest.mark.parametrize("engine", ["onnx", "reference"])
async def test_a_closed_engine_is_unavailable(engine: str) -> None:
    embedder = OnnxEmbedder(prepared().folder) if engine == "onnx" else ReferenceEmbedder(source_folder())
    await embedder.ready()
    embedder.close()
    embedder.close()
    with pytest.raises(Unavailable, match="is closed"):
        await embedder.embed(SENTENCE)
