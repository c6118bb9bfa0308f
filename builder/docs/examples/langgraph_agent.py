"""A LangGraph agent with a tool: the nodes `page` and `kept`, and the store, are what is new."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from builder.client.sync import SyncClient
from builder.integrations.langgraph import PageNodes
from builder.integrations.langgraph_store import BuilderStore


class State(MessagesState):
    """With the page."""

    llm_input_messages: list[AnyMessage]


def build(model: BaseChatModel, tools: list[Any], client: SyncClient) -> Any:
    """Invoke it with {"configurable": {"thread_id": "s42", "user_id": "ann"}}."""
    nodes, bound = PageNodes(client), model.bind_tools(tools)
    graph = StateGraph(State)
    graph.add_node("page", nodes.before_model)
    graph.add_node("model", lambda state: {"messages": bound.invoke(state["llm_input_messages"])})
    graph.add_node("kept", nodes.after_model)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "page")
    graph.add_edge("page", "model")
    graph.add_edge("model", "kept")
    graph.add_conditional_edges("kept", tools_condition)
    graph.add_edge("tools", "page")
    return graph.compile(checkpointer=InMemorySaver(), store=BuilderStore(client))
