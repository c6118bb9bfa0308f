"""The OpenAI Agents SDK's own runner and chat model over the service."""

import asyncio
import json
from typing import Any, cast

import pytest
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, SQLiteSession, function_tool
from agents.memory import Session
from openai import AsyncOpenAI

from builder.client.sync import SyncClient
from builder.integrations.openai_agents import BuilderSession
from tests.chat_endpoint import ChatEndpoint
from tests.frameworks.page import LONG_TALK, check_docs, example
from tests.frameworks.talk import ANSWER, ASKED, TOLD, TURN_WITH_TOOLS, WEATHER, check_page, schemas, weather, words_of
from tests.running import Running


async def say(chat: ChatEndpoint, session: Any, text: str, *, has_page: bool = True, streamed: bool = False) -> str:
    """The answer. has_page: each call of the model reads the page of its input."""
    async with AsyncOpenAI(base_url=chat.base_url, api_key="k") as provider:
        model = OpenAIChatCompletionsModel("m", provider)
        billing = Agent(name="billing", model=model)
        agent = Agent(name="kiln", model=model, tools=[function_tool(weather)], handoffs=[billing])
        page = session.page if has_page else None
        configuration = RunConfig(tracing_disabled=True, call_model_input_filter=page)
        if streamed:
            run = Runner.run_streamed(agent, text, session=session, run_config=configuration)
            _ = [event async for event in run.stream_events()]
            return str(run.final_output)
        return str((await Runner.run(agent, text, session=session, run_config=configuration)).final_output)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("has_page", [True, False])
async def test_the_session_gives_the_page_and_the_input_once(
    chat: ChatEndpoint, client: SyncClient, service: Running, *, has_page: bool, streamed: bool
) -> None:
    name = f"oa {has_page} {streamed}"
    session, how = BuilderSession(name, client, user_id="ann"), {"has_page": has_page, "streamed": streamed}
    assert isinstance(session, Session)
    assert [await say(chat, session, text, **how) for text in (TOLD, WEATHER)] == ["Noted.", "Lima is warmer."]
    check_page(chat.requests[-1], WEATHER)
    assert await asyncio.to_thread(schemas, client, name) == ["user.message", "agent.response", *TURN_WITH_TOOLS]
    await asyncio.to_thread(service.stop)
    await asyncio.to_thread(service.start)
    assert await say(chat, BuilderSession(name, client), ASKED, **how) == ANSWER
    check_page(chat.requests[-1], ASKED)
    assert [message["role"] for message in chat.requests[-1]][-2:] == ["assistant", "user"]
    assert await say(chat, BuilderSession(f"{name} of ben", client), ASKED, **how) == "I do not know."


async def test_a_second_agent_goes_on_after_a_handoff(chat: ChatEndpoint, client: SyncClient) -> None:
    session = BuilderSession("oa handoff", client)
    assert await say(chat, session, "I want a refund.") == "The refund is on its way."
    check_page(chat.requests[-1], "I want a refund.")
    assert await say(chat, session, TOLD) == "Noted."
    check_page(chat.requests[-1], TOLD)


async def test_items_are_given_as_they_were_added_and_popped_from_the_end(chat: ChatEndpoint, client: SyncClient) -> None:
    mine, theirs = BuilderSession("oa items", client), SQLiteSession("oa items")
    for session in (mine, theirs):
        await say(chat, session, WEATHER, has_page=False)
    assert list(map(plain, await mine.get_items())) == list(map(plain, await theirs.get_items()))
    for limit in (0, 1):
        assert list(map(plain, await mine.get_items(limit))) == list(map(plain, await theirs.get_items(limit)))
    for _ in range(6):
        popped = await mine.pop_item(), await theirs.pop_item()
        assert plain(popped[0]) == plain(popped[1])
    assert (await mine.pop_item(), await mine.get_items(), await theirs.get_items()) == (None, [], [])


CALLS: Any = [
    {"type": "function_call", "call_id": f"c{number}", "name": "weather", "arguments": '{"city":"Oslo"}'} for number in (1, 2)
]
RESULTS: Any = [{"type": "function_call_output", "call_id": f"c{number}", "output": "10 degrees"} for number in (1, 2)]


@pytest.mark.parametrize("there", range(5))
async def test_adding_items_again_after_an_error_adds_what_is_missing(client: SyncClient, there: int) -> None:
    session = BuilderSession(f"oa again {there}", client)
    items: Any = [{"role": "user", "content": WEATHER}, *CALLS, *RESULTS, {"role": "assistant", "content": "Neither."}]
    await session.add_items(items[: there + (there > 1)])
    await session.add_items(items)
    await session.add_items(items)
    assert await asyncio.to_thread(schemas, client, session.session_id) == TURN_WITH_TOOLS


async def test_the_last_items_begin_with_the_call_of_a_result(client: SyncClient) -> None:
    session = BuilderSession("oa limit", client)
    await session.add_items([{"role": "user", "content": WEATHER}, *CALLS, *RESULTS])
    items = await session.get_items()
    assert [len(await session.get_items(limit)) for limit in range(7)] == [0, 4, 4, 4, 4, 5, 5]
    assert await session.get_items(1) == items[1:]


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([{"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "x"},
          {"type": "custom_tool_call_output", "call_id": "c1", "output": "patched main.py"}], "patched main.py"),
        ([{"type": "local_shell_call", "id": "l", "call_id": "c1", "status": "completed", "action": {"command": ["ls"]}},
          {"type": "local_shell_call_output", "id": "l", "output": "main.py"}], "main.py"),
        ([{"type": "mcp_call", "id": "m", "name": "lookup", "server_label": "shop", "arguments": "{}", "output": "K9 is there"}],
         "K9 is there"),
        ([*CALLS[:1], {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "31 cm"}]}],
         "31 cm"),
    ],
    ids=["custom", "shell", "mcp", "list"],
)  # fmt: skip
async def test_calls_of_every_form_stand_with_their_results(client: SyncClient, items: Any, words: str) -> None:
    session = BuilderSession(f"oa forms {words}", client)
    await session.add_items([{"role": "user", "content": "Go."}, *items, {"role": "assistant", "content": "Done."}])
    _, call, result, answer = cast("Any", await session.get_items())
    assert call["call_id"] == result["call_id"]
    assert (result["output"], answer["content"]) == (words, "Done.")


async def test_a_cleared_session_is_empty_and_begins_again(chat: ChatEndpoint, client: SyncClient) -> None:
    session = BuilderSession("oa cleared", client)
    await say(chat, session, TOLD)
    await session.clear_session()
    assert await session.get_items() == []
    assert await say(chat, session, ASKED) == "I do not know."


def plain(item: Any) -> tuple[Any, ...]:
    """What an item says, without the ids of providers and the date above it."""
    return (
        item.get("role"),
        words_of(item.get("content") or ""),
        item.get("call_id", "")[:4],
        item.get("name"),
        json.loads(item.get("arguments", "{}")),
        item.get("output"),
    )


async def test_the_page_shows_what_the_model_reads(chat: ChatEndpoint, client: SyncClient) -> None:
    for session, has_page in ((SQLiteSession("oa long"), False), (BuilderSession("oa long", client), True)):
        await session.add_items(cast("Any", LONG_TALK))
        await say(chat, session, ASKED, has_page=has_page)
    check_docs("openai-agents", *chat.requests)


async def test_the_example_answers(chat: ChatEndpoint, client: SyncClient) -> None:
    async with AsyncOpenAI(base_url=chat.base_url, api_key="k") as provider:
        agent = Agent(name="kiln", model=OpenAIChatCompletionsModel("m", provider))
        said = [await example("openai_session.py")["answer"](agent, text, client, "oa example") for text in (TOLD, ASKED)]
    assert said == ["Noted.", ANSWER]
