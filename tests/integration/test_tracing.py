"""One trace from who publishes a message, through the build, to the agent and back; a real collector receives the spans."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from builder.adapters.nats.topology import BREADCRUMBS
from builder.client import Client, ReceivedContext, connect, sync
from builder.connection.names import MESSAGE_ID_HEADER
from builder.wire.traces import trace_of
from tests.collector import Collector, Received
from tests.integration.profiles import with_profiles
from tests.running import Broker, Running, all_settled, jetstream, wait_for

SESSION, QUESTION, PERSON = "maya@example.com", "Where does the zebra sleep?", "Maya Okonkwo"


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with Collector() as receiving:
        yield receiving


@pytest.fixture(scope="module")
def service(folder: Path, broker: Broker, collector: Collector) -> Iterator[Running]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        patch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
        later = "extends: default\ndebounce: 0.2\naudience: {any_tags: [later]}\n"
        running = Running(folder / "service", broker.url, templates_dir=with_profiles(folder, {"later": later}))
    with running:
        yield running


@pytest.fixture
def tracer(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Iterator[trace.Tracer]:
    """OpenTelemetry in the process of publisher and agent."""
    provider = TracerProvider(resource=Resource.create({"service.name": "agent"}))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{collector.url}/v1/traces")))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield trace.get_tracer("agent")
    provider.shutdown()


def only(spans: list[Received]) -> Received:
    (span,) = spans
    return span


async def serve_one(client: Client, question: str, identity: str) -> str:
    """An agent that answers one message; its answer."""

    async def reply(context: ReceivedContext) -> str:
        return f"I have {context.token_count} tokens."

    agent = asyncio.create_task(client.serve("default", reply))
    try:
        return await client.answer(SESSION, question, message_id=identity, speaker=PERSON, user_id="maya-7")
    finally:
        agent.cancel()
        with suppress(asyncio.CancelledError):
            await agent


async def test_one_trace_leads_from_the_message_through_the_build_to_the_agent_and_back(
    service: Running, collector: Collector, tracer: trace.Tracer
) -> None:
    async with connect(service.url) as client:
        with tracer.start_as_current_span("person writes"):
            await serve_one(client, QUESTION, "m1")
    wait_for(lambda: len(collector.named("process breadcrumb")) >= 2, "the spans of message and answer")
    person, message = only(collector.named("person writes")), only(collector.named("process breadcrumb", outcome="published"))
    published, agent = only(collector.named("publish context")), only(collector.named("answer context"))
    answer = only(collector.named("process breadcrumb", outcome="remembered"))
    ours = (person, message, published, agent, answer)
    assert len({each.trace for each in ours}) == 1
    assert [each.parent for each in ours] == ["", person.id, message.id, published.id, agent.id]
    assert [each.service for each in ours] == ["agent", "context-builder", "context-builder", "agent", "context-builder"]
    assert {"catch_up", "recall", "embedding", "page", "publish context"} <= {*collector.below(message)}
    assert message.attributes["context_builder.contexts"] == 1
    assert "context_builder.wait_ms" in message.attributes


async def test_memory_has_the_names_of_opentelemetry_too(service: Running, collector: Collector) -> None:
    async with connect(service.url) as client:
        await client.ask("named", QUESTION, message_id="named")
        await client.search(QUESTION)
        await client.forget("named")
    wait_for(lambda: collector.named("request forget"), "the spans")
    names = {each.name: each.attributes.get("gen_ai.operation.name") for each in collector.spans}
    assert (names["process breadcrumb"], names["publish context"]) == ("upsert_memory", None)
    assert (names["recall"], names["request search"], names["request forget"]) == (
        "search_memory",
        "search_memory",
        "delete_memory",
    )
    assert {each.attributes.get("gen_ai.memory.store.id") for each in collector.named("recall")} == {"context-builder"}


async def test_no_span_holds_a_content_a_session_or_a_person(service: Running, collector: Collector) -> None:
    async with connect(service.url) as client:
        await client.ask(SESSION, QUESTION, speaker=PERSON, user_id="maya-7")
    number = len(collector.named("process breadcrumb"))
    wait_for(lambda: len(collector.named("process breadcrumb")) >= max(number, 1), "a span")
    sent = b"".join(collector.bodies)
    assert b"context_builder.sequence" in sent
    for private in (b"zebra", b"maya", b"Maya", b"example", b"user.message"):
        assert private not in sent


async def test_a_process_without_opentelemetry_passes_the_trace_on(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01", "tracestate": "vendor=1"}
    async with connect(service.url) as client, jetstream(service.url) as js:
        await client.send_user_message("passes", "Hello?", message_id="p1")  # makes the subject
        await all_settled(js)
        monkeypatch.delitem(sys.modules, "opentelemetry.trace")
        async with client.subscribed("default", durable=None) as contexts:
            stored = await js.get_last_msg(BREADCRUMBS, "breadcrumbs.default.passes.>")
            assert stored.data
            data = stored.data.replace(b"p1", b"p2")
            headers = {"Traceparent": given["traceparent"], "tracestate": given["tracestate"], MESSAGE_ID_HEADER: "default:p2:1"}
            await js.publish(str(stored.subject), data, headers=headers)
            context = await anext(each async for each in contexts if each.trigger_event_id == "p2")
            assert context.trace["traceparent"].split("-")[1] == "ab" * 16
            assert context.trace["tracestate"] == given["tracestate"]
            await client.send_response(context, "Hello.")
        answer = await js.get_last_msg(BREADCRUMBS, "breadcrumbs.default.passes.agent.response.v1")
        assert trace_of(answer.headers) == context.trace


async def test_a_message_that_comes_again_stays_in_its_trace(
    service: Running, collector: Collector, tracer: trace.Tracer
) -> None:
    async with connect(service.url) as client:
        with tracer.start_as_current_span("twice"):
            await client.ask("twice", "Hello?", consumer="later", tags=["later"])
    wait_for(lambda: collector.named("twice"), "its span")
    root = only(collector.named("twice"))

    def contexts() -> list[Any]:
        return [
            each.attributes["context_builder.consumer"] for each in collector.named("publish context") if each.trace == root.trace
        ]

    wait_for(lambda: contexts() == ["default", "later"], "both contexts")
    wait_for(lambda: len(collector.below(root)) >= 2, "both deliveries")
    assert {*collector.below(root)} == {"process breadcrumb"}


def test_a_client_without_await_sends_the_span_of_its_thread(
    service: Running, collector: Collector, tracer: trace.Tracer
) -> None:
    with sync.connect(service.url) as client, tracer.start_as_current_span("plain"):
        client.ask("plain", "Hello?")
    wait_for(lambda: collector.named("plain"), "its span")
    wait_for(lambda: "process breadcrumb" in collector.below(only(collector.named("plain"))), "the span of its message")


async def test_a_service_whose_collector_is_away_works_and_stops(
    tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    with Running(tmp_path, broker.url, name="alone") as service:
        async with connect(service.url, name="alone") as client:
            assert (await client.ask("s1", "Hello?")).content
        wait_for(lambda: "opentelemetry" in service.said(), "a line about the collector")
        assert service.stop() == 0


def test_the_service_refuses_a_protocol_that_it_does_not_send(
    tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    service = Running(tmp_path, broker.url)
    service.launch()
    assert service.wait() == 78
    assert "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'; write http/protobuf" in service.said()
