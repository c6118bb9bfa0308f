"""LlamaIndex: a `BaseMemory`. Extra `llama-index`."""

from collections.abc import Mapping
from typing import Any, Self

from llama_index.core.base.llms.types import ChatMessage, ContentBlock, ImageBlock, TextBlock, ToolCallBlock
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.memory import BaseMemory
from typing_extensions import override

from builder.client import Client
from builder.client.sync import SyncClient, as_sync
from builder.domain.json_values import JsonObject
from builder.integrations.conversation import CONSUMER, Conversation
from builder.integrations.messages import chat_message

FEW = 2
"""Fewer texts are one text."""
EXTRA = ("tool_calls", "function_call", "tool_call_id", "name")
"""Fields that a message has in `additional_kwargs`."""


class BuilderMemory(BaseMemory):
    """One session's memory. All methods raise `Rejected` and `Unavailable`."""

    _conversation: Conversation = PrivateAttr()

    def __init__(self, client: SyncClient | Client, session: str, *, user_id: str = "", consumer: str = CONSUMER) -> None:
        super().__init__()
        self._conversation = Conversation(as_sync(client), session, user_id, consumer)

    @classmethod
    @override
    def from_defaults(cls, **kwargs: Any) -> Self:
        """With the arguments of the constructor."""
        return cls(**kwargs)

    @override
    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """The page for the newest question, or as it is after the newest answer. input: is what was put last."""
        return [_message(each) for each in self._conversation.page()]

    @override
    def get_all(self) -> list[ChatMessage]:
        """Every message as it was said, without a page."""
        return [_message(chat_message(record)) for record in self._conversation.records()][::-1]

    @override
    def put(self, message: ChatMessage) -> None:
        """A system message is one of the conversation only where something was said before: the agent has its own prompt."""
        self._conversation.add(_chat(message))

    @override
    def set(self, messages: list[ChatMessage]) -> None:
        """Put what comes after those that are there; erase what differs."""
        self._conversation.replace(*map(_chat, messages), by="llama-index")

    @override
    def reset(self) -> None:
        """Erase every message."""
        self._conversation.clear()


def _chat(message: ChatMessage) -> JsonObject:
    """As the reader of the client takes it: blocks by their own fields, calls and ids of `additional_kwargs` beside them."""
    parts = [_part(block) for block in message.blocks]
    is_text = all(part.get("type") == "text" for part in parts)
    content = "".join(part["text"] for part in parts) if is_text and len(parts) < FEW else parts
    extra = {name: value for name, value in message.additional_kwargs.items() if name in EXTRA and value}
    status = {"status": "error"} if message.additional_kwargs.get("is_error") else {}
    return {"role": message.role.value, "content": content, **extra, **status}


def _part(block: ContentBlock) -> JsonObject:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageBlock):
        data = block.resolve_image(as_base64=True).read().decode() if not block.url else ""
        return {"type": "image_url", "image_url": {"url": str(block.url or f"data:{block.image_mimetype};base64,{data}")}}
    fields = block.model_dump(mode="json", exclude_none=True, exclude={"additional_information"})
    return {"type": fields.pop("block_type"), **fields}


def _message(message: Mapping[str, Any]) -> ChatMessage:
    content = message["content"] or ""
    if message["role"] == "tool":
        return ChatMessage(role="tool", content=content, additional_kwargs={"tool_call_id": message["tool_call_id"]})
    parts: list[JsonObject] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    uses = ((call["id"], call["function"]) for call in message.get("tool_calls") or ())
    calls = (ToolCallBlock(tool_call_id=name, tool_name=use["name"], tool_kwargs=use["arguments"]) for name, use in uses)
    return ChatMessage.model_validate({"role": message["role"], "blocks": [*map(_block, parts), *calls]})


def _block(part: Mapping[str, Any]) -> ContentBlock | JsonObject:
    if part["type"] == "image_url":
        return ImageBlock(**part["image_url"])
    return {"block_type": part["type"], **part}
