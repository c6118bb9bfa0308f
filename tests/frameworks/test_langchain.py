"""LangChain's own agent, tools and OpenAI model over the service: the page is what the model reads."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage, convert_to_messages
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import SecretStr

from builder.client import Client, Rejected
from builder.client import connect as connect_async
from builder.client.sync import SyncClient
from builder.integrations.langchain import ContextBuilderMiddleware
from tests.chat_endpoint import ChatEndpoint
from tests.frameworks.page import LONG_TALK, check_docs, example
from tests.frameworks.talk import ANSWER, ASKED, TOLD, TURN_WITH_TOOLS, WEATHER, check_page, schemas, weather, words_of
from tests.running import Running

BUILD = example("langchain_agent.py")["build"]
PROMPT = "You keep a pottery."


def model(chat: ChatEndpoint) -> ChatOpenAI:
    return ChatOpenAI(base_url=chat.base_url, api_key=SecretStr("k"), model="m")


def thread(name: str, user: str = "ann") -> Any:
    return {"configurable": {"thread_id": name, "user_id": user}}


def asked(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def say(agent: Any, text: str, name: str, user: str = "ann", *, streamed: bool = False) -> str:
    if not streamed:
        return str(agent.invoke(asked(text), thread(name, user))["messages"][-1].content)
    pieces = [piece for piece, _ in agent.stream(asked(text), thread(name, user), stream_mode="messages")]
    return "".join(str(piece.content) for piece in pieces if isinstance(piece, AIMessage))


@pytest.mark.parametrize("streamed", [False, True])
def test_the_model_reads_the_page_and_a_new_process_goes_on(
    chat: ChatEndpoint, client: SyncClient, service: Running, *, streamed: bool
) -> None:
    agent, name = BUILD(model(chat), [weather], client), f"lc {streamed}"
    assert [say(agent, text, name, streamed=streamed) for text in (TOLD, WEATHER)] == ["Noted.", "Lima is warmer."]
    check_page(chat.requests[-1], WEATHER)
    assert [message["role"] for message in chat.requests[-1]] == ["user", "assistant", "user", "assistant", "tool", "tool"]
    assert schemas(client, name) == ["user.message", "agent.response", *TURN_WITH_TOOLS]
    service.stop()
    service.start()
    assert say(BUILD(model(chat), [weather], client), ASKED, name, streamed=streamed) == ANSWER
    check_page(chat.requests[-1], ASKED)
    assert say(agent, ASKED, f"{name} of ben", "ben", streamed=streamed) == "I do not know."
    assert [words_of(message["content"]) for message in chat.requests[-1]] == [ASKED]


@pytest.mark.parametrize("kind", ["plain", "asynchronous"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_agent_may_be_asynchronous_with_either_client(
    chat: ChatEndpoint, client: SyncClient, service: Running, kind: str, *, streamed: bool
) -> None:
    name = f"lc async {kind} {streamed}"
    async with connect_async(service.env["CONTEXT_BUILDER_NATS__SERVERS"]) as other:
        ours: SyncClient | Client = client if kind == "plain" else other
        agent = BUILD(model(chat), [weather], ours)
        if streamed:
            said = [piece async for piece, _ in agent.astream(asked(WEATHER), thread(name), stream_mode="messages")]
            assert said[-1].content in {"", "Lima is warmer."}
        else:
            assert (await agent.ainvoke(asked(WEATHER), thread(name)))["messages"][-1].content == "Lima is warmer."
    assert await asyncio.to_thread(schemas, client, name) == TURN_WITH_TOOLS


def test_the_state_is_whole_and_the_prompt_comes_before_what_the_page_says_as_the_system(
    chat: ChatEndpoint, client: SyncClient
) -> None:
    client.send("tool.catalog.v1", {"tools": [{"name": "weigh", "description": "Weighs clay."}]}, session="lc state")
    agent: Any = create_agent(
        model(chat), [weather], middleware=[ContextBuilderMiddleware(client)], system_prompt=PROMPT, checkpointer=InMemorySaver()
    )
    state = agent.invoke({"messages": [*convert_to_messages(LONG_TALK), HumanMessage(WEATHER)]}, thread("lc state"))
    assert len(state["messages"]) == len(LONG_TALK) + len(TURN_WITH_TOOLS)
    assert len(chat.requests[-1]) < len(LONG_TALK)
    system, *others = chat.requests[-1]
    prompt, own = (part["text"] for part in system["content"])
    assert (prompt, "weigh" in own) == (PROMPT, True)
    assert "system" not in {message["role"] for message in others}


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_person_who_is_asked_first_gets_the_question_answered_once(
    chat: ChatEndpoint, client: SyncClient, decision: str
) -> None:
    loop: Any = HumanInTheLoopMiddleware(interrupt_on={"weather": True})
    middleware = [ContextBuilderMiddleware(client), loop]
    agent: Any = create_agent(model(chat), [weather], middleware=middleware, checkpointer=InMemorySaver())
    name = f"lc person {decision}"
    assert agent.invoke(asked(WEATHER), thread(name))["__interrupt__"]
    assert schemas(client, name) == ["user.message", "agent.response"]
    decisions = [{"type": decision, **({"message": "10 degrees"} if decision == "reject" else {})}] * 2
    state = agent.invoke(Command(resume={"decisions": decisions}), thread(name))
    assert state["messages"][-1].content == "Lima is warmer."
    assert schemas(client, name) == TURN_WITH_TOOLS
    check_page(chat.requests[-1], WEATHER)


def test_a_tool_that_asks_a_person_is_run_again_and_its_result_is_published_once(chat: ChatEndpoint, client: SyncClient) -> None:
    def measured(city: str) -> str:
        """Temperature in a city."""
        return f"{city}: {interrupt(city)} degrees"

    measured.__name__ = "weather"
    agent: Any = BUILD(model(chat), [measured], client)
    agent.invoke(asked(WEATHER), thread("lc tool"))
    while pending := agent.get_state(thread("lc tool")).interrupts:
        agent.invoke(Command(resume={each.id: "10" for each in pending}), thread("lc tool"))
    state = agent.get_state(thread("lc tool")).values
    assert state["messages"][-1].content == "Lima is warmer."
    assert schemas(client, "lc tool") == TURN_WITH_TOOLS


def test_an_agent_without_a_thread_is_told_what_is_missing(chat: ChatEndpoint, client: SyncClient) -> None:
    agent: Any = create_agent(model(chat), middleware=[ContextBuilderMiddleware(client)])
    with pytest.raises(Rejected, match="no thread_id names the session"):
        agent.invoke(asked(TOLD))


def test_the_page_shows_what_the_model_reads(chat: ChatEndpoint, client: SyncClient) -> None:
    talk: Any = {"messages": [*convert_to_messages(LONG_TALK), HumanMessage(ASKED)]}
    create_agent(model(chat)).invoke(talk)
    BUILD(model(chat), [], client).invoke(talk, thread("lc long"))
    check_docs("langchain", *chat.requests)
