"""Copies of pages in the formats of chat APIs, for tests."""

from collections.abc import Mapping
from typing import Literal

from builder.domain.context import Context
from builder.domain.page_format import PageFormat
from builder.extras.chat_formats.formats import FORMATS, ChatCopy
from builder.extras.chat_formats.messages import Message

ChatFormat = Literal["none", "openai", "anthropic", "responses"]
FORMAT_OF: Mapping[str, PageFormat | None] = {"none": None, **FORMATS}


def messages_of(context: Context) -> tuple[Message, ...]:
    """() when the profile wants no copy."""
    assert context.copy is None or isinstance(context.copy, ChatCopy)
    return context.copy.messages if context.copy else ()
