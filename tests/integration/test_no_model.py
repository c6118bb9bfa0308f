"""Without the engine contexts come at once, by words and fields, and say so; the vectors come later and change nothing sent."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from builder.adapters.embedding.engine import Encoder, EngineThread
from builder.adapters.embedding.onnx import OnnxEmbedder, OnnxModel
from builder.adapters.embedding.prepared import read_prepared
from builder.adapters.nats.topology import Topology, ensure_streams
from builder.app.components import Components
from builder.domain.errors import Unavailable
from tests.integration.inside import engine_of, service_here, settings
from tests.integration.test_metrics import value
from tests.running import Broker, Running, all_settled, answered, context_bytes, dead_letters, jetstream, say, until

FACT, QUESTION = "The serial number of the kiln is K-4711.", "What is the serial number of the kiln?"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path / "broker") as running:
        yield running


async def talk(js: JetStreamContext, session: str = "s1") -> None:
    """The fact, and so much after it that only retrieval can bring it back."""
    await say(js, FACT, session, f"{session}-fact")
    for number in range(30):
        await say(js, f"Remark number {number} about the weather.", session, f"{session}-{number}", schema="agent.response.v1")


async def filled(core: Components) -> bool:
    return not await core.store.count_missing_vectors()


def flags(event: dict[str, dict[str, list[str]]]) -> list[str]:
    """What the context says it lacked."""
    return event["assembly"]["flags"]


async def test_contexts_come_without_the_engine_and_later_filling_changes_only_those_to_come(
    tmp_path: Path, broker: Broker
) -> None:
    back = threading.Event()

    class Away(OnnxEmbedder):
        async def embed(self, text: str, input_type: str = "") -> bytes:
            if not back.is_set():
                raise Unavailable("the engine is away")
            return await super().embed(text, input_type)

    async with service_here(settings(tmp_path, broker.url), engine_of(Away)) as service:
        await talk(service.js)
        await say(service.js, QUESTION, "s1", "asked")
        await all_settled(service.js)
        before = await context_bytes(service.js)
        events = [json.loads(data) for data in before]
        assert [flags(event) for event in events] == [["degraded"], ["degraded", "vectors_missing"]]
        assert FACT in events[1]["content"]
        assert await service.core.store.count_missing_vectors() == 32
        back.set()
        await until(partial(filled, service.core), "the vectors")
        await say(service.js, "Once more: what was that serial number?", "s1", "again")
        await all_settled(service.js)
        *sent, last = await context_bytes(service.js)
        assert sent == before
        assert flags(json.loads(last)) == []
        assert FACT in json.loads(last)["content"]
        assert await dead_letters(service.js) == []


async def test_the_service_answers_while_the_engine_is_still_loading(tmp_path: Path, broker: Broker) -> None:
    loaded = threading.Event()

    class Slow(EngineThread):
        def __init__(self, folder: Path) -> None:
            def load() -> Encoder:
                loaded.wait()
                return OnnxModel(folder)

            super().__init__(read_prepared(folder).model, load, ())

    try:
        async with service_here(settings(tmp_path, broker.url), engine_of(Slow, engine_seconds=0)) as service:
            await say(service.js, FACT, "s1", "m1")
            await all_settled(service.js)
            loaded.set()
            await until(partial(filled, service.core), "the vectors")
            await say(service.js, QUESTION, "s1", "m2")
            await all_settled(service.js)
            assert [flags(event) for event in await answered(service.js)] == [["degraded"], []]
    finally:
        loaded.set()


async def test_a_service_without_an_engine_is_ready_and_says_what_it_lacks_until_it_gets_one(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker:
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            with Running(tmp_path / "service", broker.url, embedding__engine="none") as service:
                await say(js, FACT, "s1", "m1")
                await say(js, QUESTION, "s1", "m2")
                await all_settled(js)
                status, body = service.get("/readyz")
                assert (status, json.loads(body)["status"]) == (200, "degraded")
                assert "set CONTEXT_BUILDER_EMBEDDING__ENGINE" in json.loads(body)["parts"]["model"]
                await until(partial(missing, service, 2), "the gauge")
            assert [flags(event) for event in await answered(js)] == [["degraded"], ["degraded", "vectors_missing"]]
            with Running(tmp_path / "service", broker.url) as service:
                await until(partial(missing, service, 0), "the gauge")
                status, body = service.get("/readyz")
                assert (status, json.loads(body)["status"]) == (200, "ok")
                await say(js, QUESTION, "s1", "m3")
                await all_settled(js)
            assert [flags(event) for event in await answered(js)][2:] == [[]]
            with Running(tmp_path / "service", broker.url, embedding__engine="none"):
                await say(js, QUESTION, "s1", "m4")
                await all_settled(js)
            events = await answered(js)
    assert [event["assembly"]["model"] == "none" for event in events] == [True, True, False, True]
    assert flags(events[3]) == ["degraded", "vectors_missing"]


async def missing(service: Running, number: int) -> bool:
    return value(service.get("/metrics")[1], "context_builder_vectors_missing") == number
