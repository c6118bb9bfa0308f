"""The pictures of a stored body, and the size that the first bytes of one tell."""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any

from builder.assemble.items.rendering import UNKNOWN_SIZE, Image, Size
from builder.wire.attachments import PICTURE_STARTS, Attachment, attachment_of
from builder.wire.items import FILES

PICTURES = frozenset(PICTURE_STARTS.values())
"""Types of pictures that OpenAI and Anthropic take."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]+")
MAX_HEAD_CHARS = 174_764
"""The base64 in which a picture's size is looked for: a JPEG has a preview of up to 64 kB and other notes before it."""


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


def size_of(data: str) -> Size:
    """The size that the first bytes of a PNG, JPEG, GIF or WebP tell. data: base64."""
    head = data[:MAX_HEAD_CHARS]
    try:
        first = base64.b64decode(head[: len(head) // 4 * 4])
    except binascii.Error:
        return UNKNOWN_SIZE
    if first.startswith(b"\x89PNG\r\n\x1a\n"):
        return _big(first[16:20]), _big(first[20:24])
    if first[:6] in {b"GIF87a", b"GIF89a"}:
        return _little(first[6:8]), _little(first[8:10])
    if first[:4] == b"RIFF" and first[8:12] == b"WEBP":
        return _webp(first)
    return _jpeg(first) if first.startswith(b"\xff\xd8") else UNKNOWN_SIZE


def _webp(data: bytes) -> Size:
    match data[12:16]:
        case b"VP8 ":
            return _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF
        case b"VP8L":
            bits = _little(data[21:25])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return _little(data[24:27]) + 1, _little(data[27:30]) + 1
        case _:
            return UNKNOWN_SIZE


MARKER = 0xFF
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG behind which its size stands."""


def _jpeg(data: bytes) -> Size:
    at = 2
    while at + 9 <= len(data) and data[at] == MARKER:
        if data[at + 1] in FRAMES:
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        at += 2 + max(_big(data[at + 2 : at + 4]), 2)
    return UNKNOWN_SIZE


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
