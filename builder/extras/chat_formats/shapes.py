"""Messages in the shapes of OpenAI and of Anthropic."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from itertools import chain, count, groupby
from operator import itemgetter
from typing import Any, Literal

from pydantic import BaseModel, Field, model_serializer

from builder.assemble.items.rendering import Image
from builder.domain.context import OPENING
from builder.extras.chat_formats.messages import Exchange, Message
from builder.publish.event import STRICT_MODEL

MAX_ID_CHARS, MAX_NAME_CHARS = 40, 64
"""OpenAI's limits, which are within Anthropic's."""
SUFFIX_CHARS = 6
"""Room for the number of a repeated id."""
_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_ID_CHARS}}}")
Fields = Mapping[str, Any]
"""Those of the event."""
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


def acceptable(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The same with call ids and tool names that both providers take."""
    used: set[str] = set()
    return tuple(
        replace(message, exchanges=tuple(_acceptable(exchange, used) for exchange in message.exchanges)) for message in messages
    )


def _acceptable(exchange: Exchange, used: set[str]) -> Exchange:
    request_id = exchange.call.id
    stem = request_id if _ID.fullmatch(request_id) else f"call_{blake2b(request_id.encode(), digest_size=8).hexdigest()}"
    candidates = chain((stem,), (f"{stem[: MAX_ID_CHARS - SUFFIX_CHARS]}_{number}" for number in count(2)))
    unique = next(candidate for candidate in candidates if candidate not in used)
    used.add(unique)
    tool = _NO_NAME.sub("_", exchange.call.tool)[:MAX_NAME_CHARS] or "tool"
    return replace(exchange, call=replace(exchange.call, id=unique, tool=tool))


def address_of(image: Image) -> str:
    """Its https address, or a data URL."""
    return f"data:{image.media};base64,{image.data}" if image.data else image.url


class StrictModel(BaseModel):
    """A part of a message."""

    model_config = STRICT_MODEL


class TextPart(StrictModel):
    """Text of a message of several parts."""

    type: Literal["text"] = "text"
    text: str = Field(min_length=1)


class ImageUrl(StrictModel):
    """Where OpenAI finds an image."""

    url: str = Field(description="https address or data URL")


class ImagePart(StrictModel):
    """An image for OpenAI."""

    type: Literal["image_url"] = "image_url"
    image_url: ImageUrl


class FunctionOpenAI(StrictModel):
    """What is called."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    arguments: str = Field(description="a JSON object as text")


class ToolCallOpenAI(StrictModel):
    """A call of the assistant."""

    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")
    type: Literal["function"] = "function"
    function: FunctionOpenAI


class MessageOpenAI(StrictModel):
    """A message of OpenAI's chat completions."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | tuple[TextPart | ImagePart, ...] | None = Field(None, description="null when there is nothing but calls")
    tool_calls: tuple[ToolCallOpenAI, ...] | None = Field(None, description="each is answered by one of the next messages")
    tool_call_id: str | None = Field(None, description="of a tool's answer: the call")
    # A lambda, because a return type would replace the JSON Schema of the fields.
    _with_content = model_serializer(mode="wrap")(lambda self, fields: {"role": self.role, "content": None, **fields(self)})


def openai(messages: tuple[Message, ...]) -> Fields:
    """For `chat.completions.create`, one system message at most. Only people's messages have images."""
    return behind_prompt(messages, MessageOpenAI, _with_results)


def behind_prompt(
    messages: tuple[Message, ...], system: Callable[..., StrictModel], items: Callable[[Message], Iterable[StrictModel]]
) -> Fields:
    """The texts of all system messages in one, then the items of the others."""
    prompt = "\n\n".join(part.text for message in messages if message.role == "system" for part in message.parts)
    first = (system(role="system", content=prompt),) if prompt else ()
    return {
        "messages": (*first, *(item for message in acceptable(messages) if message.role != "system" for item in items(message)))
    }


def _with_results(message: Message) -> Iterator[MessageOpenAI]:
    calls = tuple(
        ToolCallOpenAI(id=call.id, function=FunctionOpenAI(name=call.tool, arguments=call.arguments))
        for call in (exchange.call for exchange in message.exchanges)
    )
    pictures = tuple(ImagePart(image_url=ImageUrl(url=address_of(image))) for image in message.images if message.role == "user")
    parts = (*pictures, *(TextPart(text=part.text) for part in message.parts))
    is_plain = len(parts) == 1 and not pictures
    yield MessageOpenAI(role=message.role, content=message.parts[0].text if is_plain else parts or None, tool_calls=calls or None)
    for exchange in message.exchanges:
        yield MessageOpenAI(role="tool", content="\n".join(exchange.results), tool_call_id=exchange.call.id)


class CacheControl(StrictModel):
    """Marks the end of a prefix that Anthropic may cache."""

    type: Literal["ephemeral"] = "ephemeral"


class _Block(StrictModel):
    cache_control: CacheControl | None = Field(None, description="at the named breakpoints")


class TextBlock(_Block):
    """Text for Anthropic."""

    type: Literal["text"] = "text"
    text: str = Field(min_length=1)


class ImageSource(StrictModel):
    """Where Anthropic finds an image."""

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


class MessageAnthropic(StrictModel):
    """A message of Anthropic's API; `system` is beside them."""

    role: Literal["user", "assistant"]
    content: tuple[Block, ...] = Field(min_length=1)


def anthropic(messages: tuple[Message, ...]) -> Fields:
    """For `messages.create`: alternating roles, the user first, results right after their calls."""
    messages = acceptable(messages)
    system = tuple(block for message in messages if message.role == "system" for block in _mark_cache(_texts(message), message))
    blocks = [(role, block) for message in messages for role, blocks in _turns(message) for block in blocks]
    if blocks and blocks[0][0] == "assistant":
        blocks.insert(0, ("user", TextBlock(text=OPENING)))
    turns = groupby(blocks, key=itemgetter(0))
    return {
        "system": system,
        "messages": tuple(MessageAnthropic(role=role, content=tuple(block for _, block in turn)) for role, turn in turns),
    }


def _turns(message: Message) -> Iterator[tuple[Literal["user", "assistant"], tuple[Block, ...]]]:
    if message.role == "user":
        yield "user", _mark_cache((*map(_picture, message.images), *_texts(message)), message)
    elif message.role == "assistant":
        calls = (exchange.call for exchange in message.exchanges)
        uses = (ToolUseBlock(id=call.id, name=call.tool, input=json.loads(call.arguments)) for call in calls)
        blocks: tuple[Block, ...] = (*_texts(message), *uses)
        yield "assistant", blocks if message.exchanges else _mark_cache(blocks, message)
        if message.exchanges:
            yield "user", _mark_cache(tuple(map(_result, message.exchanges)), message)


def _texts(message: Message) -> tuple[TextBlock, ...]:
    return tuple(TextBlock(text=part.text) for part in message.parts)


def _mark_cache(blocks: tuple[Block, ...], message: Message) -> tuple[Block, ...]:
    if not message.breakpoint:
        return blocks
    return (*blocks[:-1], blocks[-1].model_copy(update={"cache_control": CacheControl()}))


def _result(exchange: Exchange) -> ToolResultBlock:
    content = (*(TextBlock(text=result) for result in exchange.results), *map(_picture, exchange.images))
    return ToolResultBlock(tool_use_id=exchange.call.id, content=content, is_error=exchange.failed or None)


def _picture(image: Image) -> ImageBlock:
    if image.data:
        return ImageBlock(source=ImageSource(type="base64", media_type=image.media, data=image.data))
    return ImageBlock(source=ImageSource(type="url", url=image.url))
