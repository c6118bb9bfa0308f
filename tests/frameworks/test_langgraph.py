"""LangGraph's own graph, tools and OpenAI model over the service: the page is what the model reads."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import SecretStr

from builder.client import Rejected
from builder.client.sync import SyncClient
from builder.integrations.langgraph import PageNodes
from tests.chat_endpoint import ChatEndpoint
from tests.frameworks.page import LONG_TALK, check_docs, example
from tests.frameworks.talk import ANSWER, ASKED, TOLD, TURN_WITH_TOOLS, WEATHER, check_page, schemas, weather, words_of
from tests.running import Running

BUILD = example("langgraph_agent.py")["build"]


def model(chat: ChatEndpoint) -> ChatOpenAI:
    return ChatOpenAI(base_url=chat.base_url, api_key=SecretStr("k"), model="m")


def agent(chat: ChatEndpoint, client: SyncClient) -> Any:
    return BUILD(model(chat), [weather], client)


def say(graph: Any, text: str, thread: str, user: str = "ann", *, streamed: bool = False) -> str:
    configuration = {"configurable": {"thread_id": thread, "user_id": user}}
    asked = {"messages": [HumanMessage(text)]}
    state = [*graph.stream(asked, configuration, stream_mode="values")][-1] if streamed else graph.invoke(asked, configuration)
    return str(state["messages"][-1].content)


@pytest.mark.parametrize("streamed", [False, True])
def test_the_model_reads_the_page_and_a_new_process_goes_on(
    chat: ChatEndpoint, client: SyncClient, service: Running, *, streamed: bool
) -> None:
    graph, name = agent(chat, client), f"lg {streamed}"
    assert [say(graph, text, name, streamed=streamed) for text in (TOLD, WEATHER)] == ["Noted.", "Lima is warmer."]
    check_page(chat.requests[-1], WEATHER)
    assert [message["role"] for message in chat.requests[-1]] == ["user", "assistant", "user", "assistant", "tool", "tool"]
    assert schemas(client, name) == ["user.message", "agent.response", *TURN_WITH_TOOLS]
    service.stop()
    service.start()
    assert say(agent(chat, client), ASKED, name, streamed=streamed) == ANSWER
    check_page(chat.requests[-1], ASKED)
    assert say(graph, ASKED, f"{name} of ben", "ben", streamed=streamed) == "I do not know."
    assert [words_of(message["content"]) for message in chat.requests[-1]] == [ASKED]
    assert client.fetch(next(client.history(f"{name} of ben")).id).user_id == "ben"


async def test_a_graph_may_be_asynchronous(chat: ChatEndpoint, client: SyncClient) -> None:
    configuration = {"configurable": {"thread_id": "lg async"}}
    state = await agent(chat, client).ainvoke({"messages": [HumanMessage(WEATHER)]}, configuration)
    assert state["messages"][-1].content == "Lima is warmer."
    assert await asyncio.to_thread(schemas, client, "lg async") == TURN_WITH_TOOLS


def test_a_graph_without_a_thread_is_told_what_is_missing(client: SyncClient) -> None:
    with pytest.raises(Rejected, match="no thread_id names the session"):
        PageNodes(client).before_model({"messages": [HumanMessage("Hello")]}, {})


def test_messages_without_ids_are_told_apart_by_their_places(client: SyncClient) -> None:
    configuration: Any = {"configurable": {"thread_id": "lg no ids"}}
    for number in (1, 2):
        state: Any = {"messages": [HumanMessage(text) for text in (TOLD, ASKED)[:number]]}
        PageNodes(client).before_model(state, configuration)
    assert [record.text for record in client.history("lg no ids")] == [TOLD, ASKED]


def stored(client: SyncClient, name: str, *messages: AnyMessage) -> list[Any]:
    PageNodes(client).before_model({"messages": list(messages)}, {"configurable": {"thread_id": name}})
    return list(client.history(name))


def test_people_keep_their_names_and_a_chat_message_its_role(client: SyncClient) -> None:
    records = stored(
        client, "lg names", HumanMessage("I hate fish.", name="Ann"), HumanMessage("I love it.", name="Bo"),
        ChatMessage(role="user", content="Me too."),
    )  # fmt: skip
    assert [(record.speaker, record.text) for record in records] == [
        ("Ann", "I hate fish."), ("Bo", "I love it."), ("User", "Me too."),
    ]  # fmt: skip


def test_calls_that_are_no_json_results_of_functions_and_system_messages_on_the_way_are_there(client: SyncClient) -> None:
    broken = InvalidToolCall(type="invalid_tool_call", name="weigh", args="{", id="t1", error="no JSON")
    records = stored(
        client, "lg forms", SystemMessage("Be brief."), HumanMessage("Weigh it."), AIMessage("", invalid_tool_calls=[broken]),
        ToolMessage("bad JSON", tool_call_id="t1", status="error"), SystemMessage("Mail is off."),
        FunctionMessage(name="measure", content="31 cm"), HumanMessage("And?"),
    )  # fmt: skip
    texts = [record.text for record in records]
    assert texts == ["Weigh it.", "", "weigh bad JSON", "Mail is off.", "measure 31 cm", "And?"]
    assert records[3].speaker == "System"


def test_messages_without_ids_are_told_apart_where_older_ones_were_trimmed(client: SyncClient) -> None:
    stored(client, "lg trimmed", HumanMessage("first"), AIMessage("one"), HumanMessage("second"))
    records = stored(client, "lg trimmed", AIMessage("one"), HumanMessage("second"), AIMessage("two"), HumanMessage("third"))
    assert [record.text for record in records] == ["first", "one", "second", "two", "third"]


def test_the_page_shows_what_the_model_reads(chat: ChatEndpoint, client: SyncClient) -> None:
    talk = convert_to_messages(LONG_TALK)
    plain = StateGraph(MessagesState).add_node("model", lambda state: {"messages": model(chat).invoke(state["messages"])})
    asked: Any = {"messages": [*talk, HumanMessage(ASKED)]}
    plain.add_edge(START, "model").compile().invoke(asked)
    agent(chat, client).invoke(asked, {"configurable": {"thread_id": "lg long"}})
    check_docs("langgraph", *chat.requests)
