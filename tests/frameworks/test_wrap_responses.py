"""OpenAI's client and its Responses API over the service: requests but for the page, and answers, are those without us."""

import json
from typing import Any

import pytest
from openai import AsyncOpenAI, AsyncStream, OpenAI

from builder.client.sync import SyncClient
from builder.integrations import wrap_openai
from builder.integrations.vendors.responses_api import answer
from tests.frameworks.openai_client import NOTED, Kiln, outcome
from tests.frameworks.talk import TURN_WITH_TOOLS, said, schemas, user
from tests.vendor_server import ASKED, CITIES, FACT, FAILURE, KNOWN, WARMER, WEATHER, VendorServer

PROMPT: Any = {"role": "developer", "content": "You keep a pottery."}
TOOLS: Any = [
    {"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {"city": {}}}, "strict": False}
]


def outputs(response: Any) -> list[Any]:
    calls = [item for item in response.output if item.type == "function_call"]
    found = [(call.call_id, CITIES[json.loads(call.arguments)["city"]]) for call in calls]
    return [{"type": "function_call_output", "call_id": name, "output": text} for name, text in found]


CORPUS: list[tuple[str, dict[str, Any]]] = [
    ("text", {"input": FACT, "instructions": "You keep a pottery.", "temperature": 0, "extra_headers": {"x-own": "1"}}),
    ("items", {"input": [PROMPT, user([{"type": "input_text", "text": FACT}])], "store": False}),
    ("json", {"input": FACT, "text": {"format": {"type": "json_object"}}}),
    ("calls", {"input": WEATHER, "tools": TOOLS, "reasoning": {"effort": "low"}}),
    ("streamed", {"input": FACT, "stream": True}),
    ("streamed calls", {"input": [user(WEATHER)], "tools": TOOLS, "stream": True}),
    ("error", {"input": FAILURE}),
    ("nothing said", {"input": [PROMPT]}),
]


@pytest.mark.parametrize(("name", "request_"), CORPUS, ids=[name for name, _ in CORPUS])
def test_requests_but_for_the_page_and_responses_are_those_of_the_vendor(
    client: SyncClient, server: VendorServer, vendor: OpenAI, name: str, request_: dict[str, Any]
) -> None:
    plain = outcome(vendor.responses.create, request_)
    wrapped = wrap_openai(vendor, client, f"wr {name}")
    assert isinstance(wrapped, OpenAI)
    assert type(wrapped.responses) is type(vendor.responses)
    assert outcome(wrapped.responses.create, request_) == plain
    without, with_us = ({**body, "input": []} for body in server.requests)
    assert with_us == without


def test_the_page_stands_in_place_of_the_history_wherever_that_is(
    client: SyncClient, server: VendorServer, vendor: OpenAI
) -> None:
    wrapped = wrap_openai(vendor, client, "wr page", user_id="ann")
    assert wrapped.responses.create(model="m", input=[PROMPT, user(FACT)]).output_text == "Noted, as message 2."
    answer = wrapped.responses.create(model="m", input=[PROMPT, user(ASKED)], previous_response_id="resp_1")
    assert answer.output_text == KNOWN
    assert "previous_response_id" not in server.requests[-1]
    assert [item["role"] for item in server.requests[-1]["input"]] == ["developer", "user", "assistant", "user"]
    wrapped.chat.completions.create(model="m", messages=[user("And its colour?")])
    assert said(client, "wr page") == [FACT, "Noted, as message 2.", ASKED, KNOWN, "And its colour?", "Noted, as message 5."]


@pytest.mark.parametrize(
    "request_",
    [
        {"input": "Go on.", "conversation": "conv_1"},
        {"input": [{"type": "item_reference", "id": "msg_1"}]},
    ],
)
def test_a_history_that_the_vendor_has_stays_with_it(
    client: SyncClient, server: VendorServer, vendor: OpenAI, request_: dict[str, Any]
) -> None:
    wrap_openai(vendor, client, "wr elsewhere").responses.create(model="m", **request_)
    assert server.requests[-1] == {"model": "m", **request_}
    assert said(client, "wr elsewhere") == []
    server.refusals.clear()  # of a reference


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("told", ["whole", "with thoughts", "as texts", "new"])
def test_a_turn_with_tools_is_published_once_however_its_history_is_told(
    client: SyncClient, server: VendorServer, vendor: OpenAI, *, streamed: bool, told: str
) -> None:
    name, items = f"wr tools {streamed} {told}", [user(WEATHER)]
    options: Any = {"tools": TOOLS} | ({"reasoning": {"effort": "low"}} if told == "with thoughts" else {})
    for _ in range(2):
        wrapped = wrap_openai(vendor, client, name).responses
        if streamed:
            with wrapped.stream(model="m", input=items, **options) as stream:
                response: Any = stream.get_final_response()
        else:
            response = wrapped.create(model="m", input=items, **options)
        if found := outputs(response):
            calls = [each for each in response.output if each.type == "function_call"]
            shorter = [{"role": "assistant", "content": response.output_text}, *calls]
            written = shorter if told == "as texts" else response.output
            items = found if told == "new" else [*items, *written, *found]
    assert response.output_text == WARMER
    sent = server.requests[-1]["input"]
    assert json.dumps(sent).count(WEATHER) == 1
    kinds = [item.get("type") for item in sent][1:]
    thought = ["reasoning"] if told == "with thoughts" else []
    assert kinds == [*thought, "message", "function_call", "function_call", "function_call_output", "function_call_output"]
    assert schemas(client, name) == TURN_WITH_TOOLS
    again = [user(FACT)] if told == "new" else [*items, *response.output, user(FACT)]
    wrap_openai(vendor, client, name).responses.create(model="m", input=again)
    assert schemas(client, name) == [*TURN_WITH_TOOLS, "user.message", "agent.response"]


def test_raw_responses_and_structured_answers_are_remembered_and_a_stream_that_is_left_is_not(
    client: SyncClient, vendor: OpenAI
) -> None:
    wrapped = wrap_openai(vendor, client, "wr ways")
    raw = wrapped.responses.with_raw_response.create(model="m", input="Hello.")
    assert (raw.status_code, raw.parse().output_text) == (200, NOTED)
    parsed = wrapped.with_options(timeout=9).responses.parse(model="m", input="As JSON.", text_format=Kiln)
    assert parsed.output_parsed == Kiln(noted=True)
    stream = wrapped.responses.create(model="m", input="Left.", stream=True)
    next(iter(stream))
    stream.close()
    assert said(client, "wr ways") == ["Hello.", NOTED, "As JSON.", '{"noted": true}', "Left."]


def test_a_response_that_ends_in_its_thoughts_is_no_answer() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    assert answer({"output": [thought]}) == answer({"output": []}) == answer({}) == {}
    said_then = answer({"output": [thought | {"encrypted_content": "c2VhbGVk"}, {"type": "message", **user("Hi.")}]})
    assert said_then["content"] == [thought, {"type": "output_text", "text": "Hi."}]


def test_pictures_reach_the_model_on_the_page(client: SyncClient, server: VendorServer, vendor: OpenAI) -> None:
    url = "https://img.example/bowl.png"
    shown = user([{"type": "input_text", "text": "See."}, {"type": "input_image", "image_url": url, "detail": "auto"}])
    wrap_openai(vendor, client, "wr picture").responses.create(model="m", input=[shown])
    assert {"type": "input_image", "image_url": url, "detail": "auto"} in server.requests[-1]["input"][-1]["content"]


async def test_an_asynchronous_client_remembers_as_well(client: SyncClient, server: VendorServer) -> None:
    async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as vendor:
        wrapped = wrap_openai(vendor, client, "wr async")
        await wrapped.responses.create(model="m", input=FACT)
        stream = await wrapped.responses.create(model="m", input=ASKED, stream=True)
        assert isinstance(stream, AsyncStream)
        assert [event.response.output_text async for event in stream if event.type == "response.completed"] == [KNOWN]
        async with wrapped.responses.stream(model="m", input=WEATHER, tools=TOOLS) as helper:
            response: Any = await helper.get_final_response()
        await wrapped.responses.create(model="m", input=outputs(response), tools=TOOLS)
    assert schemas(client, "wr async") == [*["user.message", "agent.response"] * 2, *TURN_WITH_TOOLS]
