"""Pydantic AI's own agent and OpenAI model over the service."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, Tool
from pydantic_ai import messages as pm
from pydantic_ai.messages import (
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from builder.client.sync import SyncClient
from builder.integrations.conversation import Conversation
from builder.integrations.pydantic_ai import PageHistory, _chat
from tests.chat_endpoint import ChatEndpoint, call, calling, endpoint
from tests.frameworks.page import LONG_TALK, check_docs, example
from tests.frameworks.talk import ANSWER, ASKED, TOLD, TURN_WITH_TOOLS, WEATHER, check_page, schemas, weather, words_of
from tests.running import Running

TURN = ["user.message", "agent.response"]


@asynccontextmanager
async def an_agent(
    chat: ChatEndpoint, client: SyncClient | None, tool: Any = weather, **options: Any
) -> AsyncIterator[Agent[None, Any]]:
    """client: none = as it is without us."""
    async with AsyncOpenAI(base_url=chat.base_url, api_key="k") as provider:
        model = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=provider))
        capabilities = [PageHistory(client)] if client else []
        yield Agent(model, tools=[tool], capabilities=capabilities, **options)


async def say(
    chat: ChatEndpoint, client: SyncClient, text: str, conversation: str, user: str = "ann", *, streamed: bool = False
) -> str:
    if streamed:
        async with (
            an_agent(chat, client) as agent,
            agent.run_stream(text, conversation_id=conversation, metadata={"user_id": user}) as run,
        ):
            return str(await run.get_output())
    async with AsyncOpenAI(base_url=chat.base_url, api_key="k") as provider:
        model = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=provider))
        return str(await example("pydantic_history.py")["answer"](model, [weather], text, client, conversation, user))


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_model_reads_the_page_and_a_new_process_goes_on(
    chat: ChatEndpoint, client: SyncClient, service: Running, *, streamed: bool
) -> None:
    name = f"pa {streamed}"
    answers = [await say(chat, client, text, name, streamed=streamed) for text in (TOLD, WEATHER)]
    assert answers == ["Noted.", "Lima is warmer."]
    check_page(chat.requests[-1], WEATHER)
    assert await asyncio.to_thread(schemas, client, name) == ["user.message", "agent.response", *TURN_WITH_TOOLS]
    await asyncio.to_thread(service.stop)
    await asyncio.to_thread(service.start)
    assert await say(chat, client, ASKED, name, streamed=streamed) == ANSWER
    check_page(chat.requests[-1], ASKED)
    assert await say(chat, client, ASKED, f"{name} of ben", "ben", streamed=streamed) == "I do not know."


async def test_a_history_that_is_passed_on_is_published_once_and_stays_true(chat: ChatEndpoint, client: SyncClient) -> None:
    async with (
        an_agent(chat, None) as before,
        an_agent(chat, client, system_prompt="Be kind.", instructions="Be short.") as agent,
    ):
        told = await before.run(TOLD, conversation_id="pa history")
        history = ModelMessagesTypeAdapter.validate_json(told.all_messages_json())
        second = await agent.run(WEATHER, message_history=history)
        assert len(second.new_messages()) == 4
        third = await agent.run(ASKED, message_history=second.all_messages())
    assert third.output == ANSWER
    assert await asyncio.to_thread(schemas, client, "pa history") == [*TURN, *TURN_WITH_TOOLS, *TURN]
    check_page([each for each in chat.requests[-1] if each["role"] != "system"], ASKED)
    assert "Be short." in [each["content"] for each in chat.requests[-1]]


class Kiln(BaseModel):
    name: str


async def test_an_answer_that_is_a_tool_call_is_whole_and_feedback_is_read(chat: ChatEndpoint, client: SyncClient) -> None:
    """The first answer is words and is refused; the second is the call that is wanted."""
    said = iter([{"role": "assistant", "content": "K-4711"}, calling(call("call_9", "final_result", name="K-4711"))])
    with endpoint(lambda _: next(said)) as structured:
        async with an_agent(structured, client, output_type=Kiln) as agent:
            assert (await agent.run(TOLD, conversation_id="pa kiln")).output == Kiln(name="K-4711")
        first, second = structured.requests
    assert [words_of(each["content"]) for each in first] == [TOLD]
    assert [words_of(each["content"]) for each in second[:2]] == [TOLD, "K-4711"]
    assert "Invalid JSON" in second[-1]["content"]
    assert await asyncio.to_thread(schemas, client, "pa kiln") == [
        "user.message",
        "agent.response",
        "agent.response",
        "tool.response",
    ]
    assert await say(chat, client, ASKED, "pa kiln") == ANSWER


async def test_a_tool_that_fails_and_an_image_reach_the_page(chat: ChatEndpoint, client: SyncClient) -> None:
    def far(city: str) -> str:
        raise ModelRetry(f"{city} is too far")

    async with an_agent(chat, client, tool=Tool(far, name="weather")) as agent:
        await agent.run([WEATHER, ImageUrl("https://example.org/map.png")], conversation_id="pa far")
    question, calls, *results = chat.requests[-1]
    assert [part["type"] for part in question["content"]] == ["image_url", "text", "text"]
    assert words_of(question["content"]).startswith(WEATHER)
    assert ["is too far" in result["content"] for result in results] == [True, True]
    assert [call["id"] for call in calls["tool_calls"]] == [result["tool_call_id"] for result in results]


def test_a_run_may_be_synchronous(chat: ChatEndpoint, client: SyncClient) -> None:
    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=chat.base_url, api_key="k"))
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())  # `run_sync` would leave one of its own behind
        assert Agent(model, capabilities=[PageHistory(client)]).run_sync(TOLD, conversation_id="pa sync").output == "Noted."
        asyncio.set_event_loop(None)
    assert schemas(client, "pa sync") == TURN


async def test_the_page_shows_what_the_model_reads(chat: ChatEndpoint, client: SyncClient) -> None:
    history: list[ModelMessage] = [
        ModelRequest([UserPromptPart(each["content"])]) if each["role"] == "user" else ModelResponse([TextPart(each["content"])])
        for each in LONG_TALK
    ]
    for memory in (None, client):
        async with an_agent(chat, memory) as agent:
            await agent.run(ASKED, message_history=history, conversation_id="pa long")
    check_docs("pydantic-ai", *chat.requests)


def test_thoughts_pieces_and_tools_of_the_vendor_are_read(client: SyncClient) -> None:
    response = pm.ModelResponse(
        parts=[
            pm.ThinkingPart("Look first."),
            pm.NativeToolCallPart("web_search", {"query": "vase"}, tool_call_id="b1", provider_name="x"),
            pm.NativeToolReturnPart("web_search", {"height": "31 cm"}, tool_call_id="b1", provider_name="x"),
            pm.TextPart("The code is K-"),
            pm.TextPart("4711."),
        ]
    )
    failed = pm.ToolReturnPart("weigh", "bad arguments", tool_call_id="t1", outcome="failed")
    conversation = Conversation(client, "pa parts")
    conversation.add(*_chat(pm.ModelRequest(parts=[pm.UserPromptPart("How high?")])), *_chat(response))
    conversation.add(*_chat(pm.ModelRequest(parts=[failed])))
    texts = [record.text for record in client.history("pa parts")]
    assert [texts[0], texts[1], texts[3]] == ["How high?", "[thought] Look first.", "The code is K-4711."]
    assert "31 cm" in texts[2]
    assert "bad arguments" in texts[4]
