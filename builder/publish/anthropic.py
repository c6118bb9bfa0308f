"""`system` and `messages` in the shape of Anthropic's messages."""

import json
from collections.abc import Iterator
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from builder.domain.message import OPENING, Exchange, Image, Message
from builder.publish.tool_ids import acceptable

STRICT_MODEL = ConfigDict(extra="forbid", frozen=True)


class CacheControl(BaseModel):
    """Marks the end of a prefix that Anthropic may cache."""

    model_config = STRICT_MODEL
    type: Literal["ephemeral"] = "ephemeral"


class _Block(BaseModel):
    model_config = STRICT_MODEL
    cache_control: CacheControl | None = Field(None, description="at the named breakpoints")


class TextBlock(_Block):
    """Text for Anthropic."""

    type: Literal["text"] = "text"
    text: str = Field(min_length=1)


class ImageSource(BaseModel):
    """Where Anthropic finds an image."""

    model_config = STRICT_MODEL
    type: Literal["base64", "url"]
    media_type: str | None = None
    data: str | None = None
    url: str | None = None


class ImageBlock(_Block):
    """An image for Anthropic."""

    type: Literal["image"] = "image"
    source: ImageSource


class ToolUseBlock(_Block):
    """A call of the assistant."""

    type: Literal["tool_use"] = "tool_use"
    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")
    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    input: dict[str, Any]


class ToolResultBlock(_Block):
    """The answer to a call of the message before."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: tuple[TextBlock | ImageBlock, ...]
    is_error: bool | None = Field(None, description="true when the call failed")


Block = TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock
CachedBlock = TypeVar("CachedBlock", bound=_Block)


class MessageAnthropic(BaseModel):
    """A message of Anthropic's API; `system` is beside them."""

    model_config = STRICT_MODEL
    role: Literal["user", "assistant"]
    content: tuple[Block, ...] = Field(min_length=1)


def anthropic(messages: tuple[Message, ...]) -> tuple[tuple[TextBlock, ...], tuple[MessageAnthropic, ...]]:
    """`system` and `messages` for `messages.create`: roles in turn, the user first, results at once behind their calls."""
    messages = acceptable(messages)
    system = tuple(block for message in messages if message.role == "system" for block in _mark_cache(_texts(message), message))
    turns: list[tuple[Literal["user", "assistant"], list[Block]]] = []
    for role, blocks in (turn for message in messages for turn in _turns(message)):
        if not turns and role == "assistant":
            turns.append(("user", [TextBlock(text=OPENING)]))
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, [*blocks]))
    return system, tuple(MessageAnthropic(role=role, content=tuple(blocks)) for role, blocks in turns)


def _turns(message: Message) -> Iterator[tuple[Literal["user", "assistant"], tuple[Block, ...]]]:
    """A message as turns; the mark of its breakpoint is on its last block."""
    if message.role == "user":
        yield "user", _mark_cache((*map(_picture, message.images), *_texts(message)), message)
    elif message.role == "assistant" and message.exchanges:
        yield "assistant", (*_texts(message), *map(_use, message.exchanges))
        yield "user", _mark_cache(tuple(map(_result, message.exchanges)), message)
    elif message.role == "assistant":
        yield "assistant", _mark_cache(_texts(message), message)


def _texts(message: Message) -> tuple[TextBlock, ...]:
    return tuple(TextBlock(text=part.text) for part in message.parts)


def _mark_cache(blocks: tuple[CachedBlock, ...], message: Message) -> tuple[CachedBlock, ...]:
    if not message.breakpoint:
        return blocks
    return (*blocks[:-1], blocks[-1].model_copy(update={"cache_control": CacheControl()}))


def _use(exchange: Exchange) -> ToolUseBlock:
    call = exchange.call
    return ToolUseBlock(id=call.id, name=call.tool, input=json.loads(call.arguments))


def _result(exchange: Exchange) -> ToolResultBlock:
    content = (*(TextBlock(text=result) for result in exchange.results), *map(_picture, exchange.images))
    return ToolResultBlock(tool_use_id=exchange.call.id, content=content, is_error=exchange.failed or None)


def _picture(image: Image) -> ImageBlock:
    if image.data:
        return ImageBlock(source=ImageSource(type="base64", media_type=image.media, data=image.data))
    return ImageBlock(source=ImageSource(type="url", url=image.url))
