"""OpenAI Agents SDK: a `Session`, and the page in place of a model call's input. Extra `openai-agents`."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from agents import SessionSettings, TResponseInputItem
from agents.run import CallModelData, ModelInputData

from builder.client import Client
from builder.client.sync import SyncClient, as_sync
from builder.domain.json_values import JsonObject
from builder.integrations.conversation import CONSUMER, Conversation
from builder.integrations.messages import chat_message

Items = list[TResponseInputItem]


class BuilderSession:
    """A `Session` of the SDK. All methods raise `Rejected` and `Unavailable`.

    The SDK asks for the items before it tells its own input, and puts the input after them: so they end with the newest answer.
    `page` as `RunConfig(call_model_input_filter=…)` gives the page of the input itself, with each call of the model. A streamed
    run tells its input only afterwards, so `page` publishes what of it is not there.
    """

    session_settings: SessionSettings | None = None

    def __init__(self, session_id: str, client: SyncClient | Client, *, user_id: str = "", consumer: str = CONSUMER) -> None:
        self.session_id = session_id
        self._conversation = Conversation(as_sync(client), session_id, user_id, consumer)
        self._before: Items = []
        """The items that a run has begun with."""

    async def get_items(self, limit: int | None = None) -> Items:
        """The page as it is after the newest answer; the last `limit` items, and those before them up to a result's call."""
        items = await self._page()
        first = 0 if limit is None else max(len(items) - limit, 0)
        self._before = next(items[number:] for number in range(first, -1, -1) if not number or _is_whole(items[number:]))
        return [*self._before]

    async def _page(self) -> Items:
        page = await asyncio.to_thread(self._conversation.page)
        return [item for message in page for item in _items(message)]

    async def add_items(self, items: Items) -> None:
        """Publish messages, calls and results: what a response says, thinks and calls is one message.

        Instructions are left out where nothing was said before them. It may be repeated after an error: what the session ends
        with already is not added again.
        """
        await asyncio.to_thread(self._conversation.add, *_messages(items), once=True)

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the newest item."""
        newest = await asyncio.to_thread(lambda: next(self._conversation.records(), None))
        if newest is None:
            return None
        *others, last = _items(chat_message(newest))
        await asyncio.to_thread(self._conversation.client.forget, newest.id, by="openai-agents")
        await asyncio.to_thread(self._conversation.add, *_messages(others))
        return last

    async def clear_session(self) -> None:
        """Erase all items."""
        await asyncio.to_thread(self._conversation.clear)

    async def page(self, data: CallModelData[Any]) -> ModelInputData:
        """The input of one call of the model is the page with what the SDK has added last; instructions stay."""
        sent, before = data.model_data.input, len(self._before)
        if sent[:before] == self._before:
            await self.add_items(sent[before:])
        return ModelInputData(input=await self._page(), instructions=data.model_data.instructions)


def _messages(items: Items) -> list[JsonObject]:
    """Words and calls of an assistant without a result between them are one message."""
    messages: list[JsonObject] = []
    for item in cast("list[JsonObject]", items):
        is_result = str(item.get("type")).endswith("_output")
        if is_result or item.get("role", "assistant") != "assistant":
            messages.append({"role": "tool", "content": [item]} if is_result else item)
            continue
        content = item.get("content", "") if item.get("role") else item
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": []})
        messages[-1]["content"] += content if isinstance(content, list) else [content]
    return messages


def _is_whole(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each result is there with its call."""
    kinds = ("function_call", "function_call_output")
    calls, results = ({item["call_id"] for item in items if item.get("type") == kind} for kind in kinds)
    return results <= calls


def _items(message: Mapping[str, Any]) -> Iterator[JsonObject]:
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


def _input_part(part: JsonObject) -> JsonObject:
    if part["type"] == "image_url":
        return {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}
    return {"type": "input_text", "text": part["text"]} if part["type"] == "text" else part
