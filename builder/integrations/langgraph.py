"""LangGraph: nodes that put the page in front of the model; the store is `langgraph_store`. Extra `langgraph`."""

from collections import Counter
from collections.abc import Iterable
from json import dumps

from langchain_core.messages import AnyMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.graph import MessagesState

from builder.client import Client, Rejected
from builder.client.sync import SyncClient, as_sync
from builder.domain.json_values import JsonObject
from builder.integrations.conversation import CONSUMER, Conversation


class PageNodes:
    """Nodes before and after the model. An agent of `create_agent` takes `langchain.ContextBuilderMiddleware`.

    `configurable` of the graph's configuration names the session, `thread_id`, and the user, `user_id`. The state needs the key
    `llm_input_messages`.
    """

    def __init__(self, client: SyncClient | Client, *, consumer: str = CONSUMER) -> None:
        self._client = as_sync(client)
        self._consumer = consumer

    def before_model(self, state: MessagesState, config: RunnableConfig) -> JsonObject:
        """Publish what is new in `messages`; `llm_input_messages` is the page. Raises `Rejected`, `Unavailable`."""
        conversation = self._conversation(config)
        conversation.keep(with_names(state["messages"]))
        return {"llm_input_messages": convert_to_messages(conversation.page())}

    def after_model(self, state: MessagesState, config: RunnableConfig) -> JsonObject:
        """Publish what the model said. Raises `Rejected`, `Unavailable`."""
        self._conversation(config).keep(with_names(state["messages"]))
        return {}

    def _conversation(self, config: RunnableConfig) -> Conversation:
        return conversation_of(config, self._client, self._consumer)


def conversation_of(config: RunnableConfig, client: SyncClient, consumer: str) -> Conversation:
    """The thread of a graph's configuration, of its user. Raises `Rejected` without a thread."""
    names = config.get("configurable", {})
    if not names.get("thread_id"):
        raise Rejected('no thread_id names the session; invoke the graph with {"configurable": {"thread_id": "…"}}')
    return Conversation(client, str(names["thread_id"]), str(names.get("user_id") or ""), consumer)


def with_names(messages: Iterable[AnyMessage]) -> list[tuple[str, JsonObject]]:
    """For `Conversation.keep`. A message without an id is named by what it says, and by how often that was said before."""
    times = Counter[str]()
    pairs: list[tuple[str, JsonObject]] = []
    for message in messages:
        if str(message.type) == "remove":
            continue
        words = dumps([message.type, message.content, getattr(message, "tool_calls", None)], default=str)
        times[words] += 1
        pairs.append((message.id or f"{times[words]} {words}", message.model_dump()))
    return pairs
