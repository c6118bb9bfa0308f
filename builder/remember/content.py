"""Images and files in bodies are one short line each; their bytes never reach text, terms, vectors or page.

The parts of OpenAI, Anthropic, Gemini and MCP are read, lists of attachments, and base64 anywhere in a text.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from builder.domain.context import Image
from builder.domain.text import MAX_DEPTH, depth, parsed

LIST_FIELDS = ("attachments", "files", "images")
"""Fields of a body whose items are images and files."""
KINDS = {
    "image": "image", "image_url": "image", "input_image": "image", "file": "file", "input_file": "file", "document": "document",
    "audio": "audio", "input_audio": "audio", "video": "video", "resource": "file",
}  # fmt: skip
_NESTED = (
    "source", "image_url", "file", "input_audio", "inline_data", "inlineData", "resource", "document", "image", "audio", "video",
)  # fmt: skip
_TEXT_PART = {"type", "text", "annotations", "citations", "cache_control", "_meta"}
_DATA = ("data", "base64", "b64", "b64_json", "bytes", "blob", "file_data", "image_data")
_MEDIA = ("media_type", "mime_type", "mimeType", "mimetype", "content_type", "contentType", "format")
_NAMES = ("name", "filename", "file_name", "fileName", "title", "uri")
_SIZES = ("size", "size_bytes", "sizeBytes", "bytes", "byte_length")
_CAPTIONS = ("caption", "alt", "alt_text", "description")

_WRAPPER = {"content", "isError", "structuredContent", "_meta"}

MAX_NAME_CHARS = 120
"""Of a name or a caption."""
MIN_ENCODED_CHARS = 256
"""Of a stretch without a space that counts as encoded bytes."""
MIN_DIFFERENT_CHARS, MIN_DENSE_SHARE = 16, 0.3
"""Of encoded bytes: different letters, and share of capitals and digits. Words, paths and sequences have fewer."""

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types of pictures that OpenAI and Anthropic take."""

_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_DATA_URL = re.compile(r"data:(?P<media>[\w.+/-]*)(?:;[\w=.+-]+)*?;base64,(?P<data>[A-Za-z0-9+/=_-]+)")
_ENCODED = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{60,}(?:\r?\n[A-Za-z0-9+/_-]{60,})*(?:\r?\n[A-Za-z0-9+/_-]*={1,2}|={0,2})"
)


def described(value: Any) -> Any:
    """The value with a line per image and file, without encoded bytes."""
    if isinstance(value, str):
        return without_data(value)
    if isinstance(value, list):
        items = [described(item) for item in value]
        return "\n".join(items) if value and all(map(_is_part, value)) else items
    if not isinstance(value, dict):
        return value
    if _is_attachment(value):
        return attachment_line(value)
    return described(value["text"]) if _is_text_part(value) else {key: described(item) for key, item in value.items()}


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
    if plain is output and not (isinstance(output, list) and output and all(map(_is_part, output))):
        return output
    value = parsed(described(plain), exact=True)
    return value if depth(value) <= MAX_DEPTH else plain


def attachment_lines(body: dict[str, Any]) -> tuple[str, ...]:
    """A line for each image and file that is sent beside a message."""
    items = (item for key in LIST_FIELDS for item in (body[key] if isinstance(body.get(key), list) else ()))
    return tuple(attachment_line(item if isinstance(item, dict) else {"url": str(item)}) for item in items)


def attachment_line(part: dict[str, Any]) -> str:
    """Kind, name, type, size and caption, as far as known."""
    source = _source(part)
    size = _first(source.fields, _SIZES, int) if source.data is None else _decoded_bytes(source.data)
    name = _first(source.fields, _NAMES, str) or ("" if source.url.startswith("data:") else source.url)
    caption = _one_line(_first(source.fields, _CAPTIONS, str) or "")
    details = (_one_line(source.media), "" if size is None else f"{size:,} bytes")
    kind = str(part.get("type") or (_kind(source.media) if any((name, caption, *details)) else "attachment"))
    title = f"{KINDS.get(kind, _one_line(kind))} {_one_line(name)}".strip()
    return f"[{', '.join(filter(None, (title, *details)))}{': ' if caption else ''}{caption}]"


def images_of(body: str) -> tuple[Image, ...]:
    """The pictures that chat APIs take: base64 of PICTURES, or an https address."""
    return tuple(_images(json.loads(body))) if "image" in body else ()


def without_data(text: str) -> str:
    """The text with a mark in place of encoded bytes."""
    if len(text) < MIN_ENCODED_CHARS and ";base64," not in text:
        return text
    text = _DATA_URL.sub(lambda url: attachment_line({"type": _kind(url["media"]), "url": url[0]}), text)
    return _ENCODED.sub(_encoded, text)


class _Source(NamedTuple):
    """Where an image or file comes from."""

    fields: dict[str, Any]
    """Those of the part and of the objects nested in it."""
    url: str
    media: str
    data: str | None
    """Base64; None = it only has an address."""


def _images(value: Any) -> Iterator[Image]:
    if isinstance(value, dict) and _is_attachment(value):
        source = _source(value)
        data = "".join((source.data or "").split())
        if source.media in PICTURES and _BASE64.fullmatch(data) and len(data) % 4 == 0:
            yield Image(media=source.media, data=data)
        elif KINDS.get(str(value.get("type"))) == "image" and source.url.startswith("https://"):
            yield Image(media=source.media, url=source.url)
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _images(item)


def _encoded(stretch: re.Match[str]) -> str:
    text = stretch[0]
    is_dense = sum(letter.isupper() or letter.isdigit() for letter in text) >= MIN_DENSE_SHARE * len(text)
    if len(text) < MIN_ENCODED_CHARS or len(set(text)) < MIN_DIFFERENT_CHARS or not is_dense:
        return text
    return f"[encoded data, {_decoded_bytes(text):,} bytes]"


def _is_attachment(value: dict[str, Any]) -> bool:
    has_data = any(isinstance(value.get(key), str) for key in _DATA)
    kind = value.get("type")
    has_source = has_data or any(isinstance(value.get(key), dict | str) for key in _NESTED)
    is_typed = isinstance(kind, str) and kind in KINDS and has_source
    is_inline = any(isinstance(value.get(key), dict) for key in ("inline_data", "inlineData"))
    return is_typed or is_inline or (has_data and any(isinstance(value.get(key), str) for key in _MEDIA))


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and (_is_text_part(value) or _is_attachment(value))


def _is_text_part(value: dict[str, Any]) -> bool:
    return value.get("type") == "text" and isinstance(value.get("text"), str) and value.keys() <= _TEXT_PART


def _source(part: dict[str, Any]) -> _Source:
    fields = dict(part)
    for key in _NESTED:
        inner = part.get(key)
        if isinstance(inner, dict):
            fields |= {name: value for name, value in inner.items() if name != "type"}
        elif isinstance(inner, str):
            fields.setdefault("url", inner)
    url = _first(fields, ("url",), str) or ""
    encoded = _DATA_URL.fullmatch(url)
    media = (encoded["media"] if encoded else "") or _first(fields, _MEDIA, str) or ""
    return _Source(fields, url, media, encoded["data"] if encoded else _first(fields, _DATA, str))


def _first(fields: dict[str, Any], names: tuple[str, ...], kind: type) -> Any:
    values = (fields.get(name) for name in names)
    return next((value for value in values if isinstance(value, kind) and value and not isinstance(value, bool)), None)


def _kind(media: str) -> str:
    head = media.partition("/")[0]
    return head if head in KINDS else "file"


def _decoded_bytes(data: str) -> int:
    return sum(letter not in "=\r\n" for letter in data) * 3 // 4


def _one_line(text: str) -> str:
    line = " ".join(text.split()).replace("[", "(").replace("]", ")")
    return line if len(line) <= MAX_NAME_CHARS else line[:MAX_NAME_CHARS].rstrip() + "…"


def text_of(value: Any) -> str:
    """All words of a JSON value as lines, keys before plain values, a line for each image and file."""
    return _lines(described(value))


def _lines(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(
            text if isinstance(item, dict | list) else f"{key}: {text}" for key, item in value.items() if (text := _lines(item))
        )
    if isinstance(value, list):
        return "\n".join(filter(None, map(_lines, value)))
    return "" if value is None else str(value)
