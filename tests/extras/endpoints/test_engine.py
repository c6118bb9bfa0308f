"""Vectors by requests: batches, retries, refusals, and what never leaves or is never written."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.responses import PlainTextResponse, Response

from builder.adapters.embedding import CachedEmbedder, Endpoint, open_embedder
from builder.domain.errors import Misconfigured, Unavailable
from builder.extras.endpoints import extra
from builder.extras.endpoints.engine import REQUESTS, EndpointEmbedder
from tests.embedding_server import WIDTH, Answer, EmbeddingServer, data, model, status, vectors
from tests.models import MODELS_DIR

KEY = "sk-very-secret"


@asynccontextmanager
async def engine_of(server: EmbeddingServer, **changes: float) -> AsyncIterator[EndpointEmbedder]:
    async with server.running() as url:
        values = {"dimensions": WIDTH, "batch": 3, "attempts": 3, "first_pause": 0.001} | changes
        engine = EndpointEmbedder(Endpoint(url=url, model="many-tongues", key=KEY, **values))  # type: ignore[arg-type]
        yield engine
        await engine.aclose()


async def test_texts_that_wait_together_share_requests_and_each_gets_its_own_vector() -> None:
    texts = [f"note {number}" for number in range(3 * REQUESTS + 7)]
    server = EmbeddingServer()
    async with engine_of(server) as engine:
        found = await asyncio.gather(*map(engine.embed, texts))
    assert found == [model().encode(text) for text in texts]
    assert sorted(text for batch in server.inputs for text in batch) == sorted(texts)
    assert len(server.seen) == -(-len(texts) // 3)


async def test_the_request_names_model_dimensions_and_side_and_the_key_is_in_its_header_alone() -> None:
    server = EmbeddingServer()
    async with engine_of(server) as engine:
        cached = CachedEmbedder(engine, 10, ("query: ", "query"), ("passage: ", "document"))
        searched, stored = await cached.embed("Wo?", is_query=True), await cached.embed("Wo?")
    (first, headers), (second, _) = server.seen
    assert first == {"model": "many-tongues", "input": ["query: Wo?"], "input_type": "query", "dimensions": WIDTH}
    assert (second["input"], second["input_type"]) == (["passage: Wo?"], "document")
    assert headers["authorization"] == f"Bearer {KEY}"
    assert searched != stored
    assert (cached.batch, KEY in repr(engine._endpoint)) == (3, False)


async def test_a_model_that_makes_no_difference_embeds_a_trigger_once_for_storing_and_searching() -> None:
    server = EmbeddingServer()
    async with engine_of(server) as engine:
        cached = CachedEmbedder(engine, 10)
        assert await cached.embed("Wo?") == await cached.embed("Wo?", is_query=True)
    assert server.inputs == [["Wo?"]]


@pytest.mark.parametrize(
    "first",
    [
        status(429),
        status(500),
        lambda _: Response("no json"),
        data(),
        data([1.0] * 3),
        data(["x"] * WIDTH),
        data([1e400] * WIDTH),
    ],
    ids=["busy", "error", "text", "none", "short", "words", "infinite"],
)
async def test_an_answer_that_another_attempt_may_change_is_asked_for_again(first: Answer) -> None:
    server = EmbeddingServer(first)
    async with engine_of(server) as engine:
        assert await engine.embed("hello") == model().encode("hello")
    assert len(server.seen) == 2


@pytest.mark.parametrize(("code", "requests"), [(401, 1), (404, 1), (503, 3), (400, 2)])
async def test_a_refusal_is_unavailable_and_says_what_to_check_without_the_key(
    code: int, requests: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = EmbeddingServer(*[status(code)] * 9)
    async with engine_of(server) as engine:
        with pytest.raises(
            Unavailable, match=rf"endpoint http\S+/v1/embeddings gave no vector: .*{code}.* check CONTEXT"
        ) as caught:
            await engine.embed("a private word")
    assert len(server.seen) == requests
    assert KEY not in f"{caught.value!r} {caplog.text}"
    assert "private" not in f"{caught.value!r} {caplog.text.replace(repr(server.inputs), '')}"


async def test_the_key_loses_the_line_end_of_its_file_and_is_in_no_message_when_the_endpoint_sends_it_back() -> None:
    server = EmbeddingServer(*[data([KEY] * WIDTH)] * 3)
    async with server.running() as url:
        endpoint = Endpoint(url=url, model="m", key=f" {KEY}\r\n", dimensions=WIDTH, first_pause=0.001)
        engine = EndpointEmbedder(endpoint)
        with pytest.raises(Unavailable, match="could not convert string to float: '…'") as caught:
            await engine.embed("hello")
        await engine.aclose()
    assert {headers["authorization"] for _, headers in server.seen} == {f"Bearer {KEY}"}
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-very-secret…", "sk-very\nsecret", "sk-very\0secret"])
def test_a_key_that_no_header_takes_is_misconfigured_and_is_not_shown(key: str) -> None:
    with pytest.raises(Misconfigured, match=r"EMBEDDING__KEY has a character .* printable ASCII") as caught:
        EndpointEmbedder(Endpoint(url="https://host/v1", model="m", key=key, dimensions=4))
    assert "very" not in str(caught.value)


async def test_an_endpoint_that_is_silent_or_away_is_unavailable() -> None:
    server = EmbeddingServer()
    server.gate.clear()
    async with engine_of(server, timeout=0.05) as engine:
        with pytest.raises(Unavailable, match="Timeout"):
            await engine.embed("hello")
    with pytest.raises(Unavailable, match="is closed"):
        await engine.embed("hello")
    away = EndpointEmbedder(Endpoint(url="http://127.0.0.1:9/v1", model="m", dimensions=4, attempts=1))
    with pytest.raises(Unavailable, match="ConnectError"):
        await away.embed("hello")
    await away.aclose()


async def test_a_model_that_refuses_to_be_told_its_length_is_not_told_again_and_the_first_values_count() -> None:
    server = EmbeddingServer(status(400), data([3.0, 4.0] + [9.0] * 6), data([0.0, 2.0, 7.0]))
    async with engine_of(server, dimensions=2) as engine:
        assert [len(await engine.embed(text)) for text in ("a", "b")] == [4, 4]
    assert ["dimensions" in body for body, _ in server.seen] == [True, False, False]


async def test_a_text_longer_than_the_model_reads_is_cut_and_its_neighbours_are_not() -> None:
    def narrow(body: dict[str, list[str]]) -> Response:
        return PlainTextResponse("too long", 413) if max(map(len, body["input"])) > 1000 else vectors(body)

    server = EmbeddingServer(*[narrow] * 20)
    async with engine_of(server) as engine:
        found = await asyncio.gather(*map(engine.embed, ("kiln", "glaze " * 300, "cone")))
    assert found == [model().encode(text) for text in ("kiln", ("glaze " * 300).strip()[:899], "cone")]


def refusing(body: dict[str, list[str]]) -> Response:
    return PlainTextResponse("refused", 422) if any("forbidden" in text for text in body["input"]) else vectors(body)


def without_numbers(body: dict[str, list[str]]) -> Response:
    """As servers of half precision answer when the values of a text overflow."""
    rows = [[None if "forbidden" in text else 1.0] * WIDTH for text in body["input"]]
    return data(*rows)(body) if any(None in row for row in rows) else vectors(body)


@pytest.mark.parametrize("answer", [refusing, without_numbers], ids=["refused", "not finite"])
@pytest.mark.parametrize("at", [0, 5, 11])
async def test_a_refused_text_alone_has_no_vector_wherever_it_is_in_its_batch(answer: Answer, at: int) -> None:
    texts = [f"note {number}" for number in range(12)]
    texts[at] = "forbidden"
    server = EmbeddingServer(*[answer] * 99)
    async with engine_of(server, batch=12, attempts=1) as engine:
        found = await asyncio.gather(*map(engine.embed, texts), return_exceptions=True)
    assert isinstance(found.pop(at), Unavailable)
    assert found == [model().encode(text) for text in texts if text != "forbidden"]
    assert len(server.seen) <= 3 + 2 * 4, "halves, not single texts"


async def test_an_endpoint_that_refuses_every_text_is_asked_once_more_and_not_for_each_part() -> None:
    server = EmbeddingServer(*[status(400)] * 99)
    async with engine_of(server) as engine:
        found = await asyncio.gather(*map(engine.embed, ("a", "b " * 4_000, "c")), return_exceptions=True)
    assert [type(each) for each in found] == [Unavailable] * 3
    assert [len(texts) for texts in server.inputs] == [3, 3, 1, 1]


async def test_a_silent_part_of_a_batch_takes_no_vector_of_the_others_and_no_time_of_its_own() -> None:
    def busy(body: dict[str, list[str]]) -> Response:
        server.gate.clear()  # the next request gets no answer
        return status(503)(body)

    server = EmbeddingServer(vectors, status(413), vectors, busy)
    async with engine_of(server, batch=4, timeout=2) as engine:
        await engine.embed("first")
        found = await asyncio.gather(*map(engine.embed, "abcd"), return_exceptions=True)
        assert [each for each in found if isinstance(each, bytes)] == [model().encode(text) for text in "ab"]
        assert all(isinstance(each, Unavailable) and "Timeout" in str(each) for each in found[2:])
    assert server.inputs[2:] == [["a", "b"], ["c", "d"], ["c", "d"]]


async def test_a_text_that_is_too_long_does_not_stop_the_length_from_being_told() -> None:
    def short(body: dict[str, list[str]]) -> Response:
        return status(400)(body) if max(map(len, body["input"])) > 1000 else vectors(body)

    server = EmbeddingServer(*[short] * 20)
    async with engine_of(server) as engine:
        for text in ("glaze " * 300, "kiln"):
            await engine.embed(text)
    last, _ = server.seen[-1]
    assert (last["input"], last["dimensions"]) == (["kiln"], WIDTH)
    assert sum("dimensions" not in body for body, _ in server.seen) == 1


@pytest.mark.parametrize(
    ("url", "dimensions"),
    [
        ("", 384),
        ("ftp://host/v1", 384),
        ("host/v1", 384),
        ("https://", 384),
        ("https://:443/v1", 384),
        ("https://host:port/v1", 384),
        ("https://host:65536/v1", 384),
        ("https://host:0/v1", 384),
        ("https://[::1/v1", 384),
        ("https://host/v1\n", 384),
        ("https://me:secret@host/v1", 384),
        ("https://me:secret/more@host/v1", 384),
        ("https://host/v1", 0),
    ],
)
def test_an_endpoint_that_cannot_be_asked_is_misconfigured(url: str, dimensions: int) -> None:
    endpoint = Endpoint(url=url, model="m", dimensions=dimensions)
    with pytest.raises(Misconfigured, match="needs CONTEXT_BUILDER_EMBEDDING__URL") as caught:
        open_embedder("endpoint", "m", MODELS_DIR, 1, endpoint=endpoint, engines=extra.engines)
    assert "secret" not in str(caught.value)


async def test_the_id_tells_endpoints_lengths_and_documents_apart_and_queries_alike() -> None:
    def identity(url: str = "https://host/v1", dimensions: int = 4, query: str = "", document: str = "") -> str:
        endpoint = Endpoint(url=url, model="m", dimensions=dimensions)
        return open_embedder("endpoint", "m", MODELS_DIR, 1, (query, ""), (document, ""), endpoint, extra.engines).model

    different = [identity(), identity("https://other/v1"), identity(dimensions=5), identity(document="passage: ")]
    assert len(set(different)) == 4
    assert identity(query="query: ") == identity()
