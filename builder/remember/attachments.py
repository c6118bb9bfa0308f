"""Images and files in bodies: one short line each, and their bytes never reach text, terms, vectors or page (features C9).

Read are OpenAI's parts ({type: image_url, image_url: {url}}), Anthropic's ({type: image, source: {media_type, data}}), Gemini's
(inline_data), MCP's ({type: image, data, mimeType}), lists of attachments, and base64 wherever it stands in a text.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from builder.domain.message import Image

ATTACHED = ("attachments", "files", "images")
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

LONGEST = 120
"""Characters of a name or a caption."""
SMALLEST = 256
"""Letters of the shortest stretch without a space that is taken for encoded bytes."""
VARIED, DENSE = 16, 0.3
"""Least number of different letters, and least share of capitals and digits in it: words, paths and sequences have fewer."""

TAKEN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types of pictures that OpenAI and Anthropic take."""

_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_DATA_URL = re.compile(r"data:(?P<media>[\w.+/-]*)(?:;[\w=.+-]+)*?;base64,(?P<data>[A-Za-z0-9+/=_-]+)")
_ENCODED = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{60,}(?:\r?\n[A-Za-z0-9+/_-]{60,})*(?:\r?\n[A-Za-z0-9+/_-]*={1,2}|={0,2})"
)


def described(value: Any) -> Any:
    """The JSON value with a line in place of every image and file, and without encoded bytes in its texts."""
    if isinstance(value, str):
        return without_data(value)
    if isinstance(value, list):
        items = [described(item) for item in value]
        return "\n".join(items) if value and all(map(_is_part, value)) else items
    if not isinstance(value, dict):
        return value
    if _is_attachment(value):
        return line(value)
    return described(value["text"]) if _is_text_part(value) else {key: described(item) for key, item in value.items()}


def attached(body: dict[str, Any]) -> tuple[str, ...]:
    """A line for each image and file that is sent beside a message."""
    items = (item for key in ATTACHED for item in (body[key] if isinstance(body.get(key), list) else ()))
    return tuple(line(item if isinstance(item, dict) else {"url": str(item)}) for item in items)


def line(part: dict[str, Any]) -> str:
    """Kind, name, type, size and caption of an image or file, as far as they are known."""
    flat = _flat(part)
    address = _first(flat, ("url",), str) or ""
    encoded = _DATA_URL.fullmatch(address)
    data = encoded["data"] if encoded else _first(flat, _DATA, str)
    media = (encoded["media"] if encoded else "") or _first(flat, _MEDIA, str) or ""
    size = _first(flat, _SIZES, int) if data is None else _decoded(data)
    name = _first(flat, _NAMES, str) or ("" if address.startswith("data:") else address)
    caption = _one_line(_first(flat, _CAPTIONS, str) or "")
    known = (_one_line(media), "" if size is None else f"{size:,} bytes")
    kind = str(part.get("type") or (_kind(media) if any((name, caption, *known)) else "attachment"))
    told = (f"{KINDS.get(kind, _one_line(kind))} {_one_line(name)}".strip(), *known)
    return f"[{', '.join(filter(None, told))}{': ' if caption else ''}{caption}]"


def images_of(body: str) -> tuple[Image, ...]:
    """The pictures in a body, in its order, as far as chat APIs take them: base64 of one of TAKEN, or an https address."""
    return tuple(_images(json.loads(body))) if "image" in body else ()


def _images(value: Any) -> Iterator[Image]:
    if isinstance(value, list):
        for item in value:
            yield from _images(item)
    elif isinstance(value, dict) and not _is_attachment(value):
        for item in value.values():
            yield from _images(item)
    elif isinstance(value, dict):
        flat = _flat(value)
        address = _first(flat, ("url",), str) or ""
        encoded = _DATA_URL.fullmatch(address)
        media = (encoded["media"] if encoded else "") or _first(flat, _MEDIA, str) or ""
        data = "".join((encoded["data"] if encoded else _first(flat, _DATA, str) or "").split())
        if media in TAKEN and _BASE64.fullmatch(data) and len(data) % 4 == 0:
            yield Image(media=media, data=data)
        elif KINDS.get(str(value.get("type"))) == "image" and address.startswith("https://"):
            yield Image(media=media, url=address)


def without_data(text: str) -> str:
    """The text with a mark in place of encoded bytes."""
    if len(text) < SMALLEST and ";base64," not in text:
        return text
    text = _DATA_URL.sub(lambda found: line({"type": _kind(found["media"]), "url": found[0]}), text)
    return _ENCODED.sub(_encoded, text)


def _encoded(found: re.Match[str]) -> str:
    text = found[0]
    dense = sum(letter.isupper() or letter.isdigit() for letter in text) >= DENSE * len(text)
    if len(text) < SMALLEST or len(set(text)) < VARIED or not dense:
        return text
    return f"[encoded data, {_decoded(text):,} bytes]"


def _is_attachment(value: dict[str, Any]) -> bool:
    """An object that says it is one and brings its bytes or its source; one that only has an address is shown as it is."""
    holds = any(isinstance(value.get(key), str) for key in _DATA)
    named = value.get("type") in KINDS and (holds or any(isinstance(value.get(key), dict | str) for key in _NESTED))
    inline = any(isinstance(value.get(key), dict) for key in ("inline_data", "inlineData"))
    return named or inline or (holds and any(isinstance(value.get(key), str) for key in _MEDIA))


def _is_part(value: Any) -> bool:
    """A content part: nothing but a text, or an image or file beside such."""
    if not isinstance(value, dict):
        return False
    return _is_text_part(value) or _is_attachment(value)


def _is_text_part(value: dict[str, Any]) -> bool:
    return value.get("type") == "text" and isinstance(value.get("text"), str) and value.keys() <= _TEXT_PART


def _flat(part: dict[str, Any]) -> dict[str, Any]:
    flat = dict(part)
    for key in _NESTED:
        inner = part.get(key)
        if isinstance(inner, dict):
            flat |= {name: value for name, value in inner.items() if name != "type"}
        elif isinstance(inner, str):
            flat.setdefault("url", inner)
    return flat


def _first(flat: dict[str, Any], names: tuple[str, ...], kind: type) -> Any:
    """The first of these fields that holds a value of this type."""
    held = (flat.get(name) for name in names)
    return next((value for value in held if isinstance(value, kind) and value and not isinstance(value, bool)), None)


def _kind(media: str) -> str:
    head = media.partition("/")[0]
    return head if head in KINDS else "file"


def _decoded(data: str) -> int:
    """Bytes that base64 stands for."""
    return sum(letter not in "=\r\n" for letter in data) * 3 // 4


def _one_line(text: str) -> str:
    """For the inside of our brackets: one short line, and no bracket that would close them."""
    flat = " ".join(text.split()).replace("[", "(").replace("]", ")")
    return flat if len(flat) <= LONGEST else flat[:LONGEST].rstrip() + "…"
