"""What a stored body holds: its pictures, and a tool's output without MCP's wrapper."""

import json
import re
from collections.abc import Iterator
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Image
from builder.domain.text import MAX_DEPTH, depth, parsed
from builder.wire.attachments import attachment_of
from builder.wire.parts import UNREAD
from builder.wire.words import described, unread_lines

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types of pictures that OpenAI and Anthropic take."""

_WRAPPER = {"content", "isError", "structuredContent", "_meta"}
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def without_wrapper(output: Any) -> Any:
    """A tool's output without MCP's wrapper, unless that says more than its text."""
    if not isinstance(output, dict) or not isinstance(output.get("content"), list) or not output.keys() <= _WRAPPER:
        return output
    text = described(output["content"])
    same = (None, {"result": text}, parsed(text))
    return text if isinstance(text, str) and not output.get("isError") and output.get("structuredContent") in same else output


def structured(output: Any) -> Any:
    """A tool's output without MCP's wrapper, as the JSON that its text holds, unless that would not say the same."""
    plain = without_wrapper(output)
    text = described(plain)
    if plain is output and not (isinstance(output, list) and isinstance(text, str)):
        return output
    value = parsed(text, exact=True)
    return value if depth(value) <= MAX_DEPTH else plain


def unread_parts(breadcrumb: Breadcrumb) -> int:
    """How many parts of its content no reader knows."""
    return len(unread_lines(json.loads(breadcrumb.body))) if UNREAD in breadcrumb.text else 0


def images_of(body: str) -> tuple[Image, ...]:
    """The pictures that chat APIs take: base64 of PICTURES, or an https address."""
    return tuple(_images(json.loads(body))) if "image" in body else ()


def _images(value: Any) -> Iterator[Image]:
    if isinstance(value, dict) and (file := attachment_of(value)) is not None:
        data = "".join(file.data.split())
        if file.media in PICTURES and _BASE64.fullmatch(data) and len(data) % 4 == 0:
            yield Image(media=file.media, data=data)
        elif file.kind == "image" and file.url.startswith("https://"):
            yield Image(media=file.media, url=file.url)
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _images(item)
