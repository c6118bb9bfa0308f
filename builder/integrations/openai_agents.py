"""OpenAI Agents SDK: a `Session`, and the page in place of a model call's input. Extra `openai-agents`."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from agents import SessionSettings, TResponseInputItem
from agents.models.chatcmpl_converter import Converter
from agents.run import CallModelData, ModelInputData

from builder.client.sync import SyncClient
from builder.integrations.conversation import CONSUMER, Conversation
from builder.integrations.messages import chat_message, number_there

Items = list[TResponseInputItem]


class BuilderSession:
    """A `Session` of the SDK. All methods raise `Rejected` and `Unavailable`.

    The SDK asks for the items before it tells its own input, and puts the input after them: so they end with the newest answer.
    `page` as `RunConfig(call_model_input_filter=…)` gives the page of the input itself, with each call of the model.
    """

    session_settings: SessionSettings | None = None

    def __init__(self, session_id: str, client: SyncClient, *, user_id: str = "", consumer: str = CONSUMER) -> None:
        self.session_id = session_id
        self._conversation = Conversation(client, session_id, user_id, consumer)

    async def get_items(self, limit: int | None = None) -> Items:
        """The page as it is after the newest answer; the last `limit` items, and those before them up to a result's call."""
        page = await asyncio.to_thread(self._conversation.page)
        items = cast("Items", [item for message in page for item in _items(message)])
        first = 0 if limit is None else max(len(items) - limit, 0)
        return next(items[number:] for number in range(first, -1, -1) if not number or _is_whole(items[number:]))

    async def add_items(self, items: Items) -> None:
        """Publish messages, calls and results: what a response says and calls is one message. Other items are left out.

        It may be repeated after an error: what the session ends with already is not added again.
        """
        await asyncio.to_thread(self._add, _messages(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the newest item."""
        newest = await asyncio.to_thread(lambda: next(self._conversation.records(), None))
        if newest is None:
            return None
        *others, last = cast("Items", list(_items(chat_message(newest))))
        await asyncio.to_thread(self._conversation.client.forget, newest.id, by="openai-agents")
        for message in _messages(others):
            await asyncio.to_thread(self._conversation.add, message)
        return last

    async def clear_session(self) -> None:
        """Erase all items."""
        await asyncio.to_thread(self._conversation.clear)

    async def page(self, data: CallModelData[Any]) -> ModelInputData:
        """The input of one call of the model is the page with what the SDK has added last; instructions stay."""
        return ModelInputData(input=await self.get_items(), instructions=data.model_data.instructions)

    def _add(self, messages: Sequence[Mapping[str, Any]]) -> None:
        for message in messages[number_there(self._conversation.records(), messages) :]:
            self._conversation.add(message)


def _messages(items: Items) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", Converter.items_to_messages([item for item in items if _is_published(item)]))


def _is_whole(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each result is there with its call."""
    kinds = ("function_call", "function_call_output")
    calls, results = ({item["call_id"] for item in items if item.get("type") == kind} for kind in kinds)
    return results <= calls


def _is_published(item: TResponseInputItem) -> bool:
    return item.get("role") in {"user", "assistant"} or item.get("type") in {"function_call", "function_call_output"}


def _items(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    content = message["content"]
    if message["role"] == "tool":
        yield {"type": "function_call_output", "call_id": message["tool_call_id"], "output": content}
    elif message["role"] == "assistant":
        if text := content if isinstance(content, str) else "".join(part["text"] for part in content or ()):
            yield {"role": "assistant", "content": text}
        for call in message.get("tool_calls") or ():
            yield {"type": "function_call", "call_id": call["id"], **call["function"]}
    else:
        yield {"role": message["role"], "content": content if isinstance(content, str) else list(map(_input_part, content))}


def _input_part(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "image_url":
        return {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}
    return {"type": "input_text", "text": part["text"]} if part["type"] == "text" else part
