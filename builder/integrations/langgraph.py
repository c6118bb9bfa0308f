"""LangGraph: nodes that put the page in front of the model; the store is `langgraph_store`. Extra `langgraph`."""

from collections import Counter
from json import dumps
from typing import Any

from langchain_core.messages import convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.graph import MessagesState

from builder.client import Rejected
from builder.client.sync import SyncClient
from builder.integrations.conversation import CONSUMER, Conversation


class PageNodes:
    """Nodes before and after the model, also as `pre_model_hook` and `post_model_hook`.

    `configurable` of the graph's configuration names the session, `thread_id`, and the user, `user_id`. The state needs the key
    `llm_input_messages`.
    """

    def __init__(self, client: SyncClient, *, consumer: str = CONSUMER) -> None:
        self._client = client
        self._consumer = consumer

    def before_model(self, state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        """Publish what is new in `messages`; `llm_input_messages` is the page. Raises `Rejected`, `Unavailable`."""
        conversation = self._conversation(config)
        _keep(conversation, state)
        return {"llm_input_messages": convert_to_messages(conversation.page())}

    def after_model(self, state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        """Publish what the model said. Raises `Rejected`, `Unavailable`."""
        _keep(self._conversation(config), state)
        return {}

    def _conversation(self, config: RunnableConfig) -> Conversation:
        names = config.get("configurable", {})
        if not names.get("thread_id"):
            raise Rejected('no thread_id names the session; invoke the graph with {"configurable": {"thread_id": "…"}}')
        return Conversation(self._client, str(names["thread_id"]), str(names.get("user_id") or ""), self._consumer)


def _keep(conversation: Conversation, state: MessagesState) -> None:
    """A message without an id is named by what it says, and by how often that was said before."""
    times = Counter[str]()
    pairs: list[tuple[str, dict[str, Any]]] = []
    for message in state["messages"]:
        if str(message.type) == "remove":
            continue
        words = dumps([message.type, message.content, getattr(message, "tool_calls", None)], default=str)
        times[words] += 1
        pairs.append((message.id or f"{times[words]} {words}", message.model_dump()))
    conversation.keep(pairs)
