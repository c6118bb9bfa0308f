"""Content of a stored body: its pictures, and a tool's output without MCP's wrapper."""

import json
import re
from collections.abc import Iterator
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Image
from builder.domain.json_values import MAX_DEPTH, depth, parsed
from builder.wire.attachments import PICTURE_STARTS, Attachment, attachment_of
from builder.wire.items import FILES, unread_lines
from builder.wire.parts import UNREAD
from builder.wire.words import described

PICTURES = frozenset(PICTURE_STARTS.values())
"""Types of pictures that OpenAI and Anthropic take."""

_WRAPPER = {"content", "isError", "structuredContent", "_meta"}
_BASE64 = re.compile(r"[A-Za-z0-9+/]+")


def without_wrapper(output: Any) -> Any:
    """A tool's output without MCP's wrapper, unless that says more than its text; JSON that was written as a JSON text, once."""
    if isinstance(output, str) and output.startswith(('"{', '"[')):
        return _unquoted(output)
    if not isinstance(output, dict) or not isinstance(output.get("content"), list) or not output.keys() <= _WRAPPER:
        return output
    if not output["content"] and output.get("structuredContent") and not output.get("isError"):
        return output["structuredContent"]
    text = described(output["content"])
    same = (None, {"result": text}, parsed(text))
    return text if isinstance(text, str) and not output.get("isError") and output.get("structuredContent") in same else output


def _unquoted(text: str) -> Any:
    """The text that a JSON text holds."""
    try:
        return json.loads(text)
    except ValueError:
        return text


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
    """The pictures that chat APIs take: base64 whose bytes are one of PICTURES, or an https address."""
    return tuple(_images(json.loads(body))) if "image" in body else ()


def _images(value: Any) -> Iterator[Image]:
    file = attachment_of(value) if isinstance(value, dict) else None
    if file is not None:
        yield from _image(file)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _images(list(map(_listed, inner)) if name in FILES and isinstance(inner, list) else inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _images(inner)


def _listed(file: Any) -> Any:
    """An entry of a list of files as a part of a message: Ollama lists base64, others an address or an object."""
    if isinstance(file, str):
        return {"type": "image", "image": file}
    return {"type": "file", **file} if isinstance(file, dict) else file


def _image(file: Attachment) -> Iterator[Image]:
    data = "".join(file.data.split()).replace("-", "+").replace("_", "/").rstrip("=")
    media = next((media for start, media in PICTURE_STARTS.items() if data.startswith(start)), "")
    if media and _BASE64.fullmatch(data):
        yield Image(media=media, data=data + "=" * (-len(data) % 4))
    elif file.url.startswith("https://") and (file.media in {*PICTURES, "image/*"} or (file.kind == "image" and not file.media)):
        yield Image(media=file.media, url=file.url)
