"""`messages` in the shape of a provider: OpenAI's chat completions and Anthropic's messages.

What a provider refuses cannot be said: exchanges bring call and answer together, ids and tool names are made acceptable here.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from builder.domain.message import OPENING, Exchange, Image, Message

STRICT = ConfigDict(extra="forbid", frozen=True)
LONGEST_ID, LONGEST_NAME = 40, 64
"""OpenAI's limits, which Anthropic takes too."""
_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_ID}}}")
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


class TextPart(BaseModel):
    """Text of a message of several parts."""

    model_config = STRICT
    type: Literal["text"] = "text"
    text: str = Field(min_length=1)


class ImageUrl(BaseModel):
    """Where OpenAI finds an image."""

    model_config = STRICT
    url: str = Field(description="https address or data URL")


class ImagePart(BaseModel):
    """An image for OpenAI."""

    model_config = STRICT
    type: Literal["image_url"] = "image_url"
    image_url: ImageUrl


class FunctionOpenAI(BaseModel):
    """What is called."""

    model_config = STRICT
    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    arguments: str = Field(description="a JSON object as text")


class ToolCallOpenAI(BaseModel):
    """A call of the assistant."""

    model_config = STRICT
    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")
    type: Literal["function"] = "function"
    function: FunctionOpenAI


class MessageOpenAI(BaseModel):
    """A message of OpenAI's chat completions."""

    model_config = STRICT
    role: Literal["system", "user", "assistant", "tool"]
    content: str | tuple[TextPart | ImagePart, ...] | None = Field(None, description="missing when there is nothing but calls")
    tool_calls: tuple[ToolCallOpenAI, ...] | None = Field(None, description="each is answered by one of the next messages")
    tool_call_id: str | None = Field(None, description="of a tool's answer: the call")


class CacheControl(BaseModel):
    """Marks the end of a prefix that Anthropic may cache."""

    model_config = STRICT
    type: Literal["ephemeral"] = "ephemeral"


class _Block(BaseModel):
    model_config = STRICT
    cache_control: CacheControl | None = Field(None, description="at the named breakpoints")


class TextBlock(_Block):
    """Text for Anthropic."""

    type: Literal["text"] = "text"
    text: str = Field(min_length=1)


class ImageSource(BaseModel):
    """Where Anthropic finds an image."""

    model_config = STRICT
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
Marked = TypeVar("Marked", bound=_Block)


class MessageAnthropic(BaseModel):
    """A message of Anthropic's API; `system` is beside them."""

    model_config = STRICT
    role: Literal["user", "assistant"]
    content: tuple[Block, ...] = Field(min_length=1)


def openai(messages: tuple[Message, ...]) -> tuple[MessageOpenAI, ...]:
    """The messages for `chat.completions.create`, one of the system at most.

    Images go with what people said; tools and the assistant have text only.
    """
    instructions = "\n\n".join(part.text for message in messages if message.role == "system" for part in message.parts)
    system = (MessageOpenAI(role="system", content=instructions),) if instructions else ()
    return (*system, *(shaped for message in acceptable(messages) if message.role != "system" for shaped in _openai(message)))


def _openai(message: Message) -> Iterator[MessageOpenAI]:
    calls = tuple(
        ToolCallOpenAI(id=call.id, function=FunctionOpenAI(name=call.tool, arguments=call.arguments))
        for call in (exchange.call for exchange in message.exchanges)
    )
    pictures = tuple(ImagePart(image_url=ImageUrl(url=_address(image))) for image in message.images if message.role == "user")
    parts = (*pictures, *(TextPart(text=part.text) for part in message.parts))
    is_plain = len(parts) == 1 and not pictures
    yield MessageOpenAI(role=message.role, content=message.parts[0].text if is_plain else parts or None, tool_calls=calls or None)
    for exchange in message.exchanges:
        yield MessageOpenAI(role="tool", content="\n".join(exchange.results), tool_call_id=exchange.call.id)


def anthropic(messages: tuple[Message, ...]) -> tuple[tuple[TextBlock, ...], tuple[MessageAnthropic, ...]]:
    """`system` and `messages` for `messages.create`: roles in turn, the user first, results at once behind their calls."""
    messages = acceptable(messages)
    system = tuple(block for message in messages if message.role == "system" for block in _marked(_texts(message), message))
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
        yield "user", _marked((*map(_picture, message.images), *_texts(message)), message)
    elif message.role == "assistant" and message.exchanges:
        yield "assistant", (*_texts(message), *map(_use, message.exchanges))
        yield "user", _marked(tuple(map(_result, message.exchanges)), message)
    elif message.role == "assistant":
        yield "assistant", _marked(_texts(message), message)


def _texts(message: Message) -> tuple[TextBlock, ...]:
    return tuple(TextBlock(text=part.text) for part in message.parts)


def _marked(blocks: tuple[Marked, ...], message: Message) -> tuple[Marked, ...]:
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


def _address(image: Image) -> str:
    return f"data:{image.media};base64,{image.data}" if image.data else image.url


def acceptable(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The same with call ids and tool names that both providers take, every id once."""
    used: set[str] = set()
    return tuple(
        replace(message, exchanges=tuple(_renamed(exchange, used) for exchange in message.exchanges)) for message in messages
    )


def _renamed(exchange: Exchange, used: set[str]) -> Exchange:
    asked = exchange.call.id
    wanted = asked if _ID.fullmatch(asked) else f"call_{blake2b(asked.encode(), digest_size=8).hexdigest()}"
    name, number = wanted, 1
    while name in used:
        number += 1
        name = f"{wanted[: LONGEST_ID - 6]}_{number}"
    used.add(name)
    tool = _NO_NAME.sub("_", exchange.call.tool)[:LONGEST_NAME] or "tool"
    return replace(exchange, call=replace(exchange.call, id=name, tool=tool))


def without_images(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The same in text alone: every image has its line there."""
    return tuple(
        replace(message, images=(), exchanges=tuple(replace(exchange, images=()) for exchange in message.exchanges))
        for message in messages
    )
