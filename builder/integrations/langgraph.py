"""LangGraph: nodes that put the page in front of the model; the store is `langgraph_store`. Extra `langgraph`."""

from typing import Any

from langchain_core.messages import convert_to_messages, convert_to_openai_messages
from langchain_core.runnables import RunnableConfig
from langgraph.graph import MessagesState

from builder.client import Rejected
from builder.client.sync import SyncClient
from builder.integrations.conversation import CONSUMER, Conversation

SPOKEN = frozenset({"human", "ai", "tool"})


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
    spoken = [message for message in state["messages"] if message.type in SPOKEN]
    chat = convert_to_openai_messages(spoken)
    names = (message.id or str(number) for number, message in enumerate(spoken))
    facts = ({"name": message.name, "status": getattr(message, "status", "")} for message in spoken)
    conversation.keep([(name, each | fact) for name, each, fact in zip(names, chat, facts, strict=True)])
