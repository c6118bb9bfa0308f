"""LangChain 1: a middleware of `create_agent` that puts the page in front of the model. Extra `langchain`."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import BaseMessage, SystemMessage, convert_to_messages
from langgraph.config import get_config
from typing_extensions import override

from builder.client import Client
from builder.client.sync import SyncClient, as_sync
from builder.integrations.conversation import CONSUMER, Conversation
from builder.integrations.langgraph import conversation_of, with_names

Request = ModelRequest[Any]
Response = ModelResponse[Any]


class ContextBuilderMiddleware(AgentMiddleware[Any, Any, Any]):
    """Each call of the model reads the page; the state stays as it is.

    `configurable` of the agent's configuration names the session, `thread_id`, and the user, `user_id`. A call raises `Rejected`
    and `Unavailable`.
    """

    def __init__(self, client: SyncClient | Client, *, consumer: str = CONSUMER) -> None:
        super().__init__()
        self._client = as_sync(client)
        self._consumer = consumer

    @override
    def wrap_model_call(self, request: Request, handler: Callable[[Request], Response]) -> Response:
        conversation = self._conversation()
        response = handler(_with_page(conversation, request))
        _keep(conversation, request, response)
        return response

    @override
    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Response]]) -> Response:
        conversation = self._conversation()
        response = await handler(await asyncio.to_thread(_with_page, conversation, request))
        await asyncio.to_thread(_keep, conversation, request, response)
        return response

    def _conversation(self) -> Conversation:
        return conversation_of(get_config(), self._client, self._consumer)


def _with_page(conversation: Conversation, request: Request) -> Request:
    """New messages of the state are published; the page's own system message comes after the agent's prompt."""
    conversation.keep(with_names(request.state["messages"]))
    page = convert_to_messages(conversation.page())
    system = [*filter(None, [request.system_message]), *(message for message in page if isinstance(message, SystemMessage))]
    others: list[Any] = [message for message in page if not isinstance(message, SystemMessage)]
    return request.override(messages=others, system_message=_joint(system))


def _joint(messages: list[SystemMessage]) -> SystemMessage | None:
    if len(messages) <= 1:
        return messages[0] if messages else None
    return SystemMessage([block for message in messages for block in _blocks(message)])


def _blocks(message: BaseMessage) -> list[Any]:
    return [{"type": "text", "text": message.content}] if isinstance(message.content, str) else message.content


def _keep(conversation: Conversation, request: Request, response: Response) -> None:
    """A message that has no id gets the one that it keeps in the state: so it is published once."""
    result: list[Any] = response.result
    for message in result:
        message.id = message.id or str(uuid.uuid4())
    conversation.keep(with_names([*request.state["messages"], *result]))
