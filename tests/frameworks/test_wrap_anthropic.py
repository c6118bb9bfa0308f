"""Anthropic's own client over the service: its requests but for the page, and its answers, are what they are without us."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic, AsyncStream, BadRequestError, Stream
from openai import OpenAI

from builder.client import connect as connect_async
from builder.client.sync import SyncClient
from builder.integrations import wrap_anthropic, wrap_openai
from tests.frameworks.talk import TURN_WITH_TOOLS, said, schemas, user
from tests.running import Running
from tests.vendor_server import ASKED, CITIES, FACT, FAILURE, KNOWN, WARMER, WEATHER, VendorServer

PROMPT = "You keep a pottery."
TOOLS: Any = [{"name": "weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]
THINKING: Any = {"type": "enabled", "budget_tokens": 1024}
PICTURE: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


@pytest.fixture
def vendor(server: VendorServer) -> Iterator[Anthropic]:
    with Anthropic(base_url=server.url, api_key="k", max_retries=0) as plain:
        yield plain


def results(message: Any) -> Any:
    uses = [block for block in message.content if block.type == "tool_use"]
    return user([{"type": "tool_result", "tool_use_id": use.id, "content": CITIES[use.input["city"]]} for use in uses])


CORPUS: list[tuple[str, dict[str, Any]]] = [
    ("plain", {"messages": [user(FACT)], "system": PROMPT, "stop_sequences": ["END"], "metadata": {"user_id": "u"}}),
    ("blocks", {"messages": [user([{"type": "text", "text": FACT}])], "system": [{"type": "text", "text": PROMPT}]}),
    ("calls", {"messages": [user(WEATHER)], "tools": TOOLS, "tool_choice": {"type": "auto"}}),
    ("thoughts", {"messages": [user(FACT)], "thinking": THINKING, "extra_body": {"own": 1}}),
    ("streamed", {"messages": [user(FACT)], "stream": True}),
    ("streamed calls", {"messages": [user(WEATHER)], "tools": TOOLS, "stream": True, "thinking": THINKING}),
    ("error", {"messages": [user(FAILURE)]}),
    ("streamed error", {"messages": [user(FAILURE)], "stream": True}),
]


def outcome(vendor: Anthropic, request: dict[str, Any]) -> Any:
    """A response, the events of a stream, or an error, with their types."""
    try:
        response = vendor.messages.create(model="m", max_tokens=2048, **request)
    except BadRequestError as error:
        return type(error), error.status_code, error.body, str(error)
    return (type(response), list(response)) if isinstance(response, Stream) else (type(response), response)


@pytest.mark.parametrize(("name", "request_"), CORPUS, ids=[name for name, _ in CORPUS])
def test_requests_but_for_the_page_and_responses_are_those_of_the_vendor(
    client: SyncClient, server: VendorServer, vendor: Anthropic, name: str, request_: dict[str, Any]
) -> None:
    plain = outcome(vendor, request_)
    assert outcome(wrap_anthropic(vendor, client, f"wa {name}"), request_) == plain
    without, with_us = ({**body, "messages": []} for body in server.requests)
    assert with_us == without


def test_an_answer_that_the_caller_has_begun_is_sent_after_the_page(
    client: SyncClient, server: VendorServer, vendor: Anthropic
) -> None:
    messages = [user(FACT), {"role": "assistant", "content": "Well,"}]
    outcome(wrap_anthropic(vendor, client, "wa begun"), {"messages": messages})
    assert server.requests[-1]["messages"][-1] == messages[-1]
    assert [record.schema for record in client.history("wa begun")] == ["user.message.v1", "agent.response.v1"]


@pytest.mark.parametrize("system", [PROMPT, [{"type": "text", "text": PROMPT}], None])
def test_what_the_page_says_as_the_system_comes_after_the_prompt(
    client: SyncClient, server: VendorServer, vendor: Anthropic, system: Any
) -> None:
    name = f"wa system {type(system).__name__}"
    client.send("tool.catalog.v1", {"tools": [{"name": "weigh", "description": "Weighs clay."}]}, session=name)
    outcome(wrap_anthropic(vendor, client, name), {"messages": [user(FACT)], **({"system": system} if system else {})})
    *prompt, own = (block["text"] for block in server.requests[-1]["system"])
    assert (prompt, "weigh" in own) == ([PROMPT] if system else [], True)


def test_the_wrapped_client_and_its_parts_are_of_the_vendors_types(client: SyncClient, vendor: Anthropic) -> None:
    wrapped = wrap_anthropic(vendor, client, "wa types")
    assert isinstance(wrapped, Anthropic)
    assert type(wrapped.messages) is type(vendor.messages)
    assert wrapped.messages.batches._client is vendor
    counted: Any = wrapped.messages._get
    assert counted == vendor.get


@pytest.mark.parametrize("way", ["whole", "streamed", "beta"])
@pytest.mark.parametrize("told", ["history", "newest"])
def test_a_turn_with_tools_is_published_once_and_its_thoughts_stay_where_the_vendor_needs_them(
    client: SyncClient, server: VendorServer, vendor: Anthropic, way: str, told: str
) -> None:
    name, messages = f"wa tools {way} {told}", [user(WEATHER)]
    request: dict[str, Any] = {"model": "m", "max_tokens": 2048, "tools": TOOLS, "thinking": THINKING}
    for _ in range(2):
        wrapped = wrap_anthropic(vendor, client, name)
        if way == "streamed":
            with wrapped.messages.stream(messages=messages, **request) as stream:
                message: Any = stream.get_final_message()
        else:
            resource: Any = wrapped.beta.messages if way == "beta" else wrapped.messages
            message = resource.create(messages=messages, **request)
        if message.stop_reason == "tool_use":
            reply = {"role": "assistant", "content": message.content}
            messages = [*messages, reply, results(message)] if told == "history" else [results(message)]
    assert message.content[-1].text == WARMER
    assert schemas(client, name) == TURN_WITH_TOOLS
    calls = server.requests[-1]["messages"][1]["content"]
    kinds = ["text", "tool_use", "tool_use"]
    assert [block["type"] for block in calls] == (["thinking", *kinds] if told == "history" else kinds)
    assert [block["content"] for block in server.requests[-1]["messages"][2]["content"]] == [
        [{"type": "text", "text": degrees}] for degrees in CITIES.values()
    ]


def test_both_vendors_go_on_with_one_session_and_pictures_are_sent(
    client: SyncClient, server: VendorServer, vendor: Anthropic
) -> None:
    with OpenAI(base_url=f"{server.url}/v1", api_key="k") as other:
        wrap_openai(other, client, "wa both").chat.completions.create(model="m", messages=[user(FACT)])
    wrapped = wrap_anthropic(vendor, client, "wa both")
    assert outcome(wrapped, {"messages": [user([PICTURE, {"type": "text", "text": ASKED}])]})[1].content[0].text == KNOWN
    assert any(block == PICTURE for block in server.requests[-1]["messages"][-1]["content"])
    raw: Any = wrapped.messages.with_raw_response.create(model="m", max_tokens=9, messages=[user("Raw.")]).parse()
    assert raw.content[0].text.startswith("Noted")
    assert said(client, "wa both")[-2] == "Raw."
    assert schemas(client, "wa both") == ["user.message", "agent.response"] * 3


@pytest.mark.parametrize("kind", ["plain", "asynchronous"])
async def test_an_asynchronous_client_takes_either_client_of_ours(
    client: SyncClient, service: Running, server: VendorServer, kind: str
) -> None:
    async with (
        AsyncAnthropic(base_url=server.url, api_key="k") as vendor,
        connect_async(service.env["CONTEXT_BUILDER_NATS__SERVERS"]) as ours,
    ):
        name = f"wa async {kind}"
        messages = wrap_anthropic(vendor, client if kind == "plain" else ours, name).messages
        await messages.create(model="m", max_tokens=9, messages=[user(FACT)])
        stream: Any = await messages.create(model="m", max_tokens=9, messages=[user(ASKED)], stream=True)
        assert isinstance(stream, AsyncStream)
        assert "".join([event.delta.text async for event in stream if event.type == "content_block_delta"]) == KNOWN
        async with messages.stream(model="m", max_tokens=9, messages=[user(WEATHER)], tools=TOOLS) as helper:
            message = await helper.get_final_message()
        raw: Any = await messages.with_raw_response.create(model="m", max_tokens=9, messages=[results(message)], tools=TOOLS)
        assert (await raw.parse()).content[0].text == WARMER
    assert await asyncio.to_thread(schemas, client, name) == [*["user.message", "agent.response"] * 2, *TURN_WITH_TOOLS]
