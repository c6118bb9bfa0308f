"""OpenAI's own client over the service: its requests but for the page, and its answers, are what they are without us."""

import asyncio
import json
from typing import Any

import pytest
from openai import AsyncOpenAI, AsyncStream, BadRequestError, OpenAI

from builder.client import Rejected
from builder.client import connect as connect_async
from builder.client.sync import SyncClient
from builder.integrations import wrap_openai
from tests.frameworks.openai_client import NOTED, Kiln, outcome
from tests.frameworks.talk import TURN_WITH_TOOLS, check_page, said, schemas, user
from tests.running import Running
from tests.vendor_server import ASKED, CITIES, FACT, FAILURE, KNOWN, WARMER, WEATHER, VendorServer

PROMPT: Any = {"role": "system", "content": "You keep a pottery."}
TOOLS: Any = [
    {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {}}}}},
]


def results(message: Any) -> list[Any]:
    arguments = [(call.id, json.loads(call.function.arguments)["city"]) for call in message.tool_calls]
    return [{"role": "tool", "tool_call_id": name, "content": CITIES[city]} for name, city in arguments]


CORPUS: list[tuple[str, dict[str, Any]]] = [
    ("plain", {"messages": [PROMPT, user(FACT)], "temperature": 0, "user": "u", "extra_headers": {"x-own": "1"}}),
    ("several", {"messages": [user(FACT)], "n": 3}),
    ("json", {"messages": [user(FACT)], "response_format": {"type": "json_object"}}),
    ("calls", {"messages": [user(WEATHER)], "tools": TOOLS, "tool_choice": "auto", "parallel_tool_calls": True}),
    ("parts", {"messages": [user([{"type": "text", "text": FACT}])], "seed": 1, "extra_body": {"own": {"field": 1}}}),
    ("beginning", {"messages": [user(FACT), {"role": "assistant", "content": "Noted"}]}),
    ("streamed", {"messages": [user(FACT)], "stream": True, "stream_options": {"include_usage": True}}),
    ("streamed calls", {"messages": [user(WEATHER)], "tools": TOOLS, "stream": True}),
    ("streamed several", {"messages": [user(FACT)], "n": 2, "stream": True}),
    ("error", {"messages": [user(FAILURE)]}),
    ("streamed error", {"messages": [user(FAILURE)], "stream": True}),
    ("nothing said", {"messages": [PROMPT]}),
]


@pytest.mark.parametrize(("name", "request_"), CORPUS, ids=[name for name, _ in CORPUS])
def test_requests_but_for_the_page_and_responses_are_those_of_the_vendor(
    client: SyncClient, server: VendorServer, vendor: OpenAI, name: str, request_: dict[str, Any]
) -> None:
    plain = outcome(vendor.chat.completions.create, request_)
    assert outcome(wrap_openai(vendor, client, f"wo {name}").chat.completions.create, request_) == plain
    without, with_us = ({**body, "messages": []} for body in server.requests)
    assert with_us == without
    front, page = ([each for each in body["messages"] if each["role"] == "system"] for body in server.requests)
    assert page[: len(front)] == front


def test_the_wrapped_client_and_its_parts_are_of_the_vendors_types(client: SyncClient, vendor: OpenAI) -> None:
    before = vendor.chat.completions.with_raw_response, vendor.chat.completions
    wrapped = wrap_openai(vendor, client, "wo types")
    assert isinstance(wrapped, OpenAI)
    for each, other in ((wrapped.chat, vendor.chat), (wrapped.chat.completions, vendor.chat.completions)):
        assert type(each) is type(other)
    assert (wrapped.base_url, wrapped.api_key, wrapped._client) == (vendor.base_url, "k", vendor._client)
    assert (vendor.chat.completions.with_raw_response, vendor.chat.completions) == before
    with pytest.raises(Rejected, match=r"object has no chat\.completions; give the vendor's own client"):
        wrap_openai(object(), client, "wo types")


def test_both_sides_are_remembered_and_the_model_reads_the_page_of_one_message(
    client: SyncClient, service: Running, server: VendorServer, vendor: OpenAI
) -> None:
    name = "wo page"
    for text, answer in ((FACT, NOTED), (ASKED, KNOWN)):
        create = wrap_openai(vendor, client, name, user_id="ann").chat.completions.create
        assert create(model="m", messages=[PROMPT, user(text)]).choices[0].message.content in {answer, "Noted, as message 2."}
    assert schemas(client, name) == ["user.message", "agent.response"] * 2
    assert [each["role"] for each in server.requests[-1]["messages"]] == ["system", "user", "assistant", "user"]
    service.stop()
    service.start()
    assert (
        outcome(wrap_openai(vendor, client, name).chat.completions.create, {"messages": [user(ASKED)]})[1]
        .choices[0]
        .message.content
        == KNOWN
    )
    with pytest.raises(Rejected, match="session 'wo page' is that of 'ann'"):
        outcome(wrap_openai(vendor, client, name, user_id="ben").chat.completions.create, {"messages": [user(ASKED)]})
    assert {record.user_id for record in client.history(name) if record.schema == "user.message.v1"} == {"ann", None}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("whole", [True, False])
def test_a_turn_with_tools_is_published_once_however_its_history_is_told(
    client: SyncClient, server: VendorServer, vendor: OpenAI, *, streamed: bool, whole: bool
) -> None:
    name, messages = f"wo tools {streamed} {whole}", [user(WEATHER)]
    for _ in range(2):
        wrapped = wrap_openai(vendor, client, name).chat.completions
        if streamed:
            with wrapped.stream(model="m", messages=messages, tools=TOOLS) as stream:
                message: Any = stream.get_final_completion().choices[0].message
        else:
            message = wrapped.create(model="m", messages=messages, tools=TOOLS).choices[0].message
        if message.tool_calls:
            messages = [*messages, message, *results(message)] if whole else results(message)
    assert message.content == WARMER
    check_page(server.requests[-1]["messages"], WEATHER)
    assert schemas(client, name) == TURN_WITH_TOOLS
    again = [*messages, message, user(FACT)] if whole else [user(FACT)]
    wrap_openai(vendor, client, name).chat.completions.create(model="m", messages=again)
    assert schemas(client, name) == [*TURN_WITH_TOOLS, "user.message", "agent.response"]


def test_a_call_that_failed_is_repeated_without_a_second_question(client: SyncClient, vendor: OpenAI) -> None:
    wrapped = wrap_openai(vendor, client, "wo again")
    for _ in range(2):
        assert outcome(wrapped.chat.completions.create, {"messages": [user(FAILURE)]})[0] is BadRequestError
    assert said(client, "wo again") == [FAILURE]


def test_a_history_that_is_older_than_the_wrapping_is_published_and_an_edited_answer_is_not(
    client: SyncClient, vendor: OpenAI
) -> None:
    wrapped, name = wrap_openai(vendor, client, "wo older"), "wo older"
    messages = [user(FACT), {"role": "assistant", "content": "Noted. "}, user("And it is blue.")]
    outcome(wrapped.chat.completions.create, {"messages": messages})
    assert said(client, name) == [FACT, "Noted. ", "And it is blue.", "Noted, as message 3."]
    messages += [{"role": "assistant", "content": "Noted, shortened."}, user(ASKED)]
    outcome(wrap_openai(vendor, client, name).chat.completions.create, {"messages": messages})
    assert said(client, name)[4:] == [ASKED, KNOWN]
    messages = [user("What was said is left out."), {"role": "assistant", "content": "Yes."}, user("Go on.")]
    outcome(wrap_openai(vendor, client, name).chat.completions.create, {"messages": messages})
    assert said(client, name)[6:] == ["Go on.", "Noted, as message 7."]


def test_an_answer_that_was_lost_is_published_with_the_next_question(client: SyncClient, vendor: OpenAI) -> None:
    wrapped = wrap_openai(vendor, client, "wo lost")
    stream = wrapped.chat.completions.create(model="m", messages=[user(FACT)], stream=True)
    next(iter(stream))
    stream.close()
    messages = [user(FACT), {"role": "assistant", "content": "Noted by the caller."}, user(ASKED)]
    outcome(wrapped.chat.completions.create, {"messages": messages})
    assert said(client, "wo lost") == [FACT, "Noted by the caller.", ASKED, KNOWN]


def test_raw_responses_structured_answers_and_clients_made_of_it_remember(client: SyncClient, vendor: OpenAI) -> None:
    wrapped = wrap_openai(vendor, client, "wo ways")
    raw = wrapped.chat.completions.with_raw_response.create(model="m", messages=[user("Hello.")])
    assert (raw.status_code, raw.parse().choices[0].message.content) == (200, NOTED)
    parsed = wrapped.chat.completions.parse(model="m", messages=[user("As JSON.")], response_format=Kiln)
    assert parsed.choices[0].message.parsed == Kiln(noted=True)
    wrapped.with_options(timeout=9).chat.completions.create(model="m", messages=[user("With options.")])
    assert said(client, "wo ways")[::2] == ["Hello.", "As JSON.", "With options."]
    assert said(client, "wo ways")[3] == '{"noted": true}'
    with wrapped.chat.completions.with_streaming_response.create(model="m", messages=[user("Unread.")]) as unread:
        assert not unread.http_response.is_stream_consumed
        assert b"Noted" in unread.read()
    assert said(client, "wo ways")[-1] == "Unread."


@pytest.mark.parametrize("kind", ["plain", "asynchronous"])
async def test_an_asynchronous_client_takes_either_client_of_ours(
    client: SyncClient, service: Running, server: VendorServer, kind: str
) -> None:
    async with (
        AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as vendor,
        connect_async(service.env["CONTEXT_BUILDER_NATS__SERVERS"]) as ours,
    ):
        name = f"wo async {kind}"
        wrapped = wrap_openai(vendor, client if kind == "plain" else ours, name)
        assert isinstance(wrapped, AsyncOpenAI)
        await wrapped.chat.completions.create(model="m", messages=[user(FACT)])
        stream = await wrapped.chat.completions.create(model="m", messages=[user(ASKED)], stream=True)
        assert isinstance(stream, AsyncStream)
        assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]) == KNOWN
        async with wrapped.chat.completions.stream(model="m", messages=[user(WEATHER)], tools=TOOLS) as helper:
            message: Any = (await helper.get_final_completion()).choices[0].message
        await wrapped.chat.completions.create(model="m", messages=results(message), tools=TOOLS)
    said_then = await asyncio.to_thread(said, client, name)
    assert (said_then[:4], said_then[-1]) == ([FACT, NOTED, ASKED, KNOWN], WARMER)
    assert await asyncio.to_thread(schemas, client, name) == [*["user.message", "agent.response"] * 2, *TURN_WITH_TOOLS]
