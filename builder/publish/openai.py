"""`messages` in the shape of OpenAI's chat completions."""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_serializer

from builder.domain.message import Exchange, Image, Message
from builder.publish.tool_ids import acceptable

STRICT_MODEL = ConfigDict(extra="forbid", frozen=True)


class TextPart(BaseModel):
    """Text of a message of several parts."""

    model_config = STRICT_MODEL
    type: Literal["text"] = "text"
    text: str = Field(min_length=1)


class ImageUrl(BaseModel):
    """Where OpenAI finds an image."""

    model_config = STRICT_MODEL
    url: str = Field(description="https address or data URL")


class ImagePart(BaseModel):
    """An image for OpenAI."""

    model_config = STRICT_MODEL
    type: Literal["image_url"] = "image_url"
    image_url: ImageUrl


class FunctionOpenAI(BaseModel):
    """What is called."""

    model_config = STRICT_MODEL
    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    arguments: str = Field(description="a JSON object as text")


class ToolCallOpenAI(BaseModel):
    """A call of the assistant."""

    model_config = STRICT_MODEL
    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")
    type: Literal["function"] = "function"
    function: FunctionOpenAI


class MessageOpenAI(BaseModel):
    """A message of OpenAI's chat completions."""

    model_config = STRICT_MODEL
    role: Literal["system", "user", "assistant", "tool"]
    content: str | tuple[TextPart | ImagePart, ...] | None = Field(None, description="null when there is nothing but calls")
    tool_calls: tuple[ToolCallOpenAI, ...] | None = Field(None, description="each is answered by one of the next messages")
    tool_call_id: str | None = Field(None, description="of a tool's answer: the call")
    # A lambda, because a return type would replace the JSON Schema of the fields.
    _with_content = model_serializer(mode="wrap")(lambda self, fields: {"role": self.role, "content": None, **fields(self)})


def openai(messages: tuple[Message, ...]) -> tuple[MessageOpenAI, ...]:
    """The messages for `chat.completions.create`, one of the system at most.

    Images go with what people said; tools and the assistant have text only.
    """
    prompt = "\n\n".join(part.text for message in messages if message.role == "system" for part in message.parts)
    system = (MessageOpenAI(role="system", content=prompt),) if prompt else ()
    return (*system, *(part for message in acceptable(messages) if message.role != "system" for part in _with_results(message)))


def _with_results(message: Message) -> Iterator[MessageOpenAI]:
    """The message, and one of the role "tool" for each of its calls."""
    calls = tuple(map(_call, message.exchanges))
    pictures = tuple(ImagePart(image_url=ImageUrl(url=_address(image))) for image in message.images if message.role == "user")
    parts = (*pictures, *(TextPart(text=part.text) for part in message.parts))
    is_plain = len(parts) == 1 and not pictures
    yield MessageOpenAI(role=message.role, content=message.parts[0].text if is_plain else parts or None, tool_calls=calls or None)
    for exchange in message.exchanges:
        yield MessageOpenAI(role="tool", content="\n".join(exchange.results), tool_call_id=exchange.call.id)


def _call(exchange: Exchange) -> ToolCallOpenAI:
    call = exchange.call
    return ToolCallOpenAI(id=call.id, function=FunctionOpenAI(name=call.tool, arguments=call.arguments))


def _address(image: Image) -> str:
    return f"data:{image.media};base64,{image.data}" if image.data else image.url
