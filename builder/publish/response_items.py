"""The messages of a context as input items of OpenAI's Responses API."""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, Field

from builder.domain.context import Exchange, Image, Message
from builder.publish.chat import STRICT_MODEL, acceptable, address_of, prompt_of


class InputText(BaseModel):
    """Text of an item of several parts."""

    model_config = STRICT_MODEL
    type: Literal["input_text"] = "input_text"
    text: str = Field(min_length=1)


class InputImage(BaseModel):
    """An image of an item."""

    model_config = STRICT_MODEL
    type: Literal["input_image"] = "input_image"
    image_url: str = Field(description="https address or data URL")
    detail: Literal["auto"] = "auto"


Content = str | tuple[InputText | InputImage, ...]


class MessageItem(BaseModel):
    """A message of somebody; the assistant's is a text."""

    model_config = STRICT_MODEL
    type: Literal["message"] = "message"
    role: Literal["system", "user", "assistant"]
    content: Content


class FunctionCallItem(BaseModel):
    """A call of the assistant."""

    model_config = STRICT_MODEL
    type: Literal["function_call"] = "function_call"
    call_id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$", description="one of the next items has its output")
    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    arguments: str = Field(description="a JSON object as text")


class FunctionOutputItem(BaseModel):
    """The output of a call."""

    model_config = STRICT_MODEL
    type: Literal["function_call_output"] = "function_call_output"
    call_id: str
    output: Content


ResponseItem = MessageItem | FunctionCallItem | FunctionOutputItem


def response_items(messages: tuple[Message, ...]) -> tuple[ResponseItem, ...]:
    """For `responses.create`, one system message at most. Messages of people and outputs have images."""
    prompt = prompt_of(messages)
    system = (MessageItem(role="system", content=prompt),) if prompt else ()
    return (*system, *(item for message in acceptable(messages) if message.role != "system" for item in _items(message)))


def _items(message: Message) -> Iterator[ResponseItem]:
    """An item of the assistant has one text, because the parts of an answer have ids of the API."""
    texts = tuple(part.text for part in message.parts)
    if message.role == "assistant":
        yield from (MessageItem(role="assistant", content=text) for text in texts)
    else:
        yield MessageItem(role=message.role, content=_content(message.images, texts))
    for call in (exchange.call for exchange in message.exchanges):
        yield FunctionCallItem(call_id=call.id, name=call.tool, arguments=call.arguments)
    yield from map(_output, message.exchanges)


def _output(exchange: Exchange) -> FunctionOutputItem:
    return FunctionOutputItem(call_id=exchange.call.id, output=_content(exchange.images, ("\n".join(exchange.results),)))


def _content(images: tuple[Image, ...], texts: tuple[str, ...]) -> Content:
    if len(texts) == 1 and not images:
        return texts[0]
    pictures = (InputImage(image_url=address_of(image)) for image in images)
    return (*pictures, *(InputText(text=text) for text in texts))
