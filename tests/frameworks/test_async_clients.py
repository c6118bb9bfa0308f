"""Each framework's part takes the asynchronous client, in the event loop that the agent runs in."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from llama_index.core.base.llms.types import ChatMessage
from openai import AsyncOpenAI
from pydantic import SecretStr
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from builder.client import Client, Rejected, connect
from builder.client.sync import as_sync
from builder.integrations.langgraph import PageNodes
from builder.integrations.langgraph_store import BuilderStore
from builder.integrations.llama_index import BuilderMemory
from builder.integrations.mem0 import AsyncMemory
from builder.integrations.openai_agents import BuilderSession
from tests.chat_endpoint import ChatEndpoint
from tests.frameworks.page import example
from tests.frameworks.talk import TOLD, TURN_WITH_TOOLS, WEATHER, weather
from tests.running import Running


@pytest.fixture
async def ours(service: Running) -> AsyncIterator[Client]:
    async with connect(service.env["CONTEXT_BUILDER_NATS__SERVERS"]) as client:
        yield client


async def schemas(client: Client, session: str) -> list[str]:
    return [record.schema.removesuffix(".v1") async for record in client.history(session)]


async def test_langgraph(chat: ChatEndpoint, ours: Client) -> None:
    model = ChatOpenAI(base_url=chat.base_url, api_key=SecretStr("k"), model="m")
    graph = example("langgraph_agent.py")["build"](model, [weather], ours)
    state = await graph.ainvoke({"messages": [HumanMessage(WEATHER)]}, {"configurable": {"thread_id": "as lg"}})
    assert state["messages"][-1].content == "Lima is warmer."
    assert await schemas(ours, "as lg") == TURN_WITH_TOOLS


async def test_the_store_of_langgraph(ours: Client) -> None:
    store = BuilderStore(ours)
    await store.aput(("as", "store"), "kiln", {"name": "K-4711"})
    item = await store.aget(("as", "store"), "kiln")
    assert item is not None
    assert item.value == {"name": "K-4711"}
    assert [each.key for each in await store.asearch(("as", "store"), query="K-4711")] == ["kiln"]


async def test_the_sdk_of_openais_agents(ours: Client) -> None:
    session = BuilderSession("as oa", ours)
    items: Any = [{"role": "user", "content": TOLD}, {"role": "assistant", "content": "Noted."}]
    await session.add_items(items)
    assert [item.get("role") for item in await session.get_items()] == ["user", "assistant"]


async def test_llama_index(ours: Client) -> None:
    memory = BuilderMemory(ours, "as li")
    await memory.aput(ChatMessage(role="user", content=TOLD))
    assert TOLD in str((await memory.aget())[-1].content)


async def test_pydantic_ai(chat: ChatEndpoint, ours: Client) -> None:
    async with AsyncOpenAI(base_url=chat.base_url, api_key="k") as provider:
        model = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=provider))
        answer = example("pydantic_history.py")["answer"]
        assert await answer(model, [weather], WEATHER, ours, "as pa") == "Lima is warmer."
    assert await schemas(ours, "as pa") == TURN_WITH_TOOLS


async def test_mem0(ours: Client) -> None:
    memory = AsyncMemory(ours)
    await memory.add(TOLD, user_id="as-mem0")
    found = await memory.search("Which kiln is it?", filters={"user_id": "as-mem0"})
    assert [each["memory"] for each in found["results"]] == [TOLD]


async def test_a_call_that_would_wait_for_its_own_loop_and_a_client_outside_of_it_are_refused(ours: Client) -> None:
    with pytest.raises(RuntimeError, match="this client would wait for itself"):
        PageNodes(ours).before_model({"messages": [HumanMessage(TOLD)]}, {"configurable": {"thread_id": "as loop"}})
    with pytest.raises(Rejected, match="an asynchronous client is given in its event loop"):
        await asyncio.to_thread(as_sync, ours)
    assert as_sync(as_sync(ours)).workspace == ours.workspace
