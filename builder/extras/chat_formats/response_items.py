"""Messages as input items of OpenAI's Responses API."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from builder.assemble.items.rendering import Image
from builder.extras.chat_formats.messages import Exchange, Message
from builder.extras.chat_formats.shapes import Fields, StrictModel, address_of, behind_prompt


class InputText(StrictModel):
    """Text of an item of several parts."""

    type: Literal["input_text"] = "input_text"
    text: str = Field(min_length=1)


class InputImage(StrictModel):
    """An image of an item."""

    type: Literal["input_image"] = "input_image"
    image_url: str = Field(description="https address or data URL")
    detail: Literal["auto"] = "auto"


Content = str | tuple[InputText | InputImage, ...]


class MessageItem(StrictModel):
    """A message of somebody; the assistant's is a text."""

    type: Literal["message"] = "message"
    role: Literal["system", "user", "assistant"]
    content: Content


class FunctionCallItem(StrictModel):
    """A call of the assistant."""

    type: Literal["function_call"] = "function_call"
    call_id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$", description="one of the next items has its output")
    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    arguments: str = Field(description="a JSON object as text")


class FunctionOutputItem(StrictModel):
    """The output of a call."""

    type: Literal["function_call_output"] = "function_call_output"
    call_id: str
    output: Content


ResponseItem = MessageItem | FunctionCallItem | FunctionOutputItem


def response_items(messages: tuple[Message, ...]) -> Fields:
    """For `responses.create`, one system message at most. Messages of people and outputs have images."""
    return behind_prompt(messages, MessageItem, _items)


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
