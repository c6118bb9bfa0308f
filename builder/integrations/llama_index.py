"""LlamaIndex: a `BaseMemory`. Extra `llama-index`."""

from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Self

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.memory import BaseMemory
from typing_extensions import override

from builder.client.sync import SyncClient
from builder.integrations.conversation import CONSUMER, Conversation
from builder.integrations.messages import chat_message, tool_call


class BuilderMemory(BaseMemory):
    """One session's memory. All methods raise `Rejected` and `Unavailable`."""

    _conversation: Conversation = PrivateAttr()

    def __init__(self, client: SyncClient, session: str, *, user_id: str = "", consumer: str = CONSUMER) -> None:
        super().__init__()
        self._conversation = Conversation(client, session, user_id, consumer)

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
        return [_message(each) for each in self._stored()]

    @override
    def put(self, message: ChatMessage) -> None:
        """System messages are left out: the agent has its own."""
        if message.role != "system":
            self._conversation.add(_chat(message))

    @override
    def set(self, messages: list[ChatMessage]) -> None:
        """Put what comes after those that are there; erase what differs."""
        chat = [message for message in messages if message.role != "system"]
        there = self._stored()
        same = len(list(takewhile(lambda pair: pair[0] == _chat(pair[1]), zip(there, chat, strict=False))))
        for record in list(self._conversation.records())[: len(there) - same]:
            self._conversation.client.forget(record.id, by="llama-index")
        for message in chat[same:]:
            self.put(message)

    @override
    def reset(self) -> None:
        """Erase every message."""
        self._conversation.clear()

    def _stored(self) -> list[dict[str, Any]]:
        return [chat_message(record) for record in self._conversation.records()][::-1]


def _chat(message: ChatMessage) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "content": message.content, "tool_call_id": message.additional_kwargs["tool_call_id"]}
    parts = [_part(block) for block in message.blocks if isinstance(block, TextBlock | ImageBlock)]
    is_text = all(part["type"] == "text" for part in parts)
    content = "\n".join(part["text"] for part in parts) if is_text else parts
    uses = (block for block in message.blocks if isinstance(block, ToolCallBlock))
    calls = [tool_call(str(use.tool_call_id), use.tool_name, use.tool_kwargs) for use in uses]
    return {"role": message.role.value, "content": content} | ({"tool_calls": calls} if calls else {})


def _part(block: TextBlock | ImageBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    data = block.resolve_image(as_base64=True).read().decode() if not block.url else ""
    return {"type": "image_url", "image_url": {"url": str(block.url or f"data:{block.image_mimetype};base64,{data}")}}


def _message(message: Mapping[str, Any]) -> ChatMessage:
    content = message["content"] or ""
    if message["role"] == "tool":
        return ChatMessage(role="tool", content=content, additional_kwargs={"tool_call_id": message["tool_call_id"]})
    parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    blocks = [TextBlock(text=part["text"]) if part["type"] == "text" else ImageBlock(**part["image_url"]) for part in parts]
    uses = ((call["id"], call["function"]) for call in message.get("tool_calls") or ())
    calls = (ToolCallBlock(tool_call_id=name, tool_name=use["name"], tool_kwargs=use["arguments"]) for name, use in uses)
    return ChatMessage(role=message["role"], blocks=[*blocks, *calls])
