"""The example with the packages of OpenAI, Anthropic and LangChain, which mypy --strict checks with all other files."""

import asyncio
import json
import runpy
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from builder.client import Client, ReceivedContext
from builder.testing import memory_client
from tests.clients import PROFILES
from tests.http_server import serving

ARGUMENTS = {"city": "Oslo"}
FUNCTION = {"name": "weather", "arguments": json.dumps(ARGUMENTS)}
CALLING = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]}
COMPLETION = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": CALLING}]}
USE = {"type": "tool_use", "id": "c1", "name": "weather", "input": ARGUMENTS}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "status": "completed", **FUNCTION}
RESPONSE = {"id": "1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [CALL]}
MESSAGE = {"id": "1", "type": "message", "role": "assistant", "model": "m", "content": [USE], "stop_reason": "tool_use"}


@cache
def example() -> dict[str, Any]:
    """Names of the example, which imports the packages."""
    return runpy.run_path(str(Path(__file__).parents[2] / "builder" / "docs" / "examples" / "sdk_models.py"))


def check_shape(page: ReceivedContext, shape: str) -> None:
    """The types of the packages hold what the model is given."""
    from anthropic.types import MessageParam, TextBlockParam
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.responses import ResponseInputItemParam

    types: dict[str, Any] = {
        "openai": list[ChatCompletionMessageParam],
        "responses": list[ResponseInputItemParam],
        "anthropic": list[MessageParam],
    }
    TypeAdapter[Any](types[shape]).validate_python(page.messages, strict=True)
    TypeAdapter(list[TextBlockParam]).validate_python(page.system, strict=True)


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with memory_client(profiles=PROFILES) as client:
        yield client


async def two_rounds(client: Client, consumer: str, reply: Callable[[Any], Awaitable[Any]], shape: str) -> None:
    """The model calls a tool, and reads its result on the next page."""
    async with client.subscribed(consumer) as contexts:
        await client.send_user_message("s1", "How warm is it in Oslo?")
        first = await anext(contexts)
        await client.send_reply(first, await reply(first), tools={"weather": lambda city: f"10 degrees in {city}"})
        second = await anext(contexts)
        assert "10 degrees in Oslo" in json.dumps(second.messages[-1])
        check_shape(second, shape)
        await reply(second)


def answering(answer: dict[str, Any], seen: list[dict[str, Any]]) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        seen.append(await request.json())
        return JSONResponse(answer)

    return respond


async def test_the_package_of_openai_takes_the_messages_and_its_completion_is_a_reply(client: Client) -> None:
    import openai

    seen: list[dict[str, Any]] = []
    async with (
        serving("/chat/completions", answering(COMPLETION, seen), asyncio.Event()) as url,
        openai.AsyncOpenAI(base_url=url, api_key="k") as model,
    ):
        await two_rounds(client, "loop", lambda context: example()["openai_reply"](model, context), "openai")
    assert [message["role"] for message in seen[-1]["messages"]][-2:] == ["assistant", "tool"]
    assert seen[-1]["tools"][0]["function"]["name"] == "fetch_omitted"


async def test_the_package_of_openai_takes_the_items_and_its_response_is_a_reply(client: Client) -> None:
    import openai

    seen: list[dict[str, Any]] = []
    async with (
        serving("/responses", answering(RESPONSE, seen), asyncio.Event()) as url,
        openai.AsyncOpenAI(base_url=url, api_key="k") as model,
    ):
        await two_rounds(client, "responding", lambda context: example()["responses_reply"](model, context), "responses")
    assert [item["type"] for item in seen[-1]["input"]][-2:] == ["function_call", "function_call_output"]
    assert (seen[-1]["tools"][0]["name"], seen[-1]["tools"][0]["strict"]) == ("fetch_omitted", False)


async def test_the_package_of_anthropic_takes_the_messages_and_its_message_is_a_reply(client: Client) -> None:
    import anthropic

    seen: list[dict[str, Any]] = []
    usage = {"input_tokens": 1, "output_tokens": 1}
    async with (
        serving("/messages", answering({**MESSAGE, "usage": usage}, seen), asyncio.Event()) as url,
        anthropic.AsyncAnthropic(base_url=url.removesuffix("/v1"), api_key="k") as model,
    ):
        await two_rounds(client, "claude", lambda context: example()["anthropic_reply"](model, context), "anthropic")
    assert [message["role"] for message in seen[-1]["messages"]][-2:] == ["assistant", "user"]
    assert seen[-1]["tools"][0]["input_schema"]["required"] == ["id"]


async def test_a_model_of_langchain_takes_the_messages_and_its_message_is_a_reply(client: Client) -> None:
    from langchain_core.language_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, ToolCall

    calling = AIMessage("", tool_calls=[ToolCall(name="weather", args=ARGUMENTS, id="c1")])
    model = FakeMessagesListChatModel(responses=[calling, AIMessage("Ten degrees.")])
    await two_rounds(client, "loop", lambda context: example()["langchain_reply"](model, context), "openai")
