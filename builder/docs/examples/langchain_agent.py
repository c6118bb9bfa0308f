"""A LangChain agent with a tool: the middleware is what is new."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver

from builder.client.sync import SyncClient
from builder.integrations.langchain import ContextBuilderMiddleware


def build(model: BaseChatModel, tools: list[Any], client: SyncClient) -> Any:
    """Invoke it with {"configurable": {"thread_id": "s42", "user_id": "ann"}}."""
    return create_agent(model, tools, middleware=[ContextBuilderMiddleware(client)], checkpointer=InMemorySaver())
