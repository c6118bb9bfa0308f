"""The tokens of a picture, by the formulas that the providers publish: OpenAI's tiles, Anthropic's pixels."""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping

from builder.domain.page_settings import ChatFormat

Size = tuple[int, int]
"""Width and height in pixels; (0, 0) = unknown."""

UNKNOWN: Size = (0, 0)
MAX_HEAD_CHARS = 174_764
"""The base64 in which a picture's size is looked for: a JPEG has a preview of up to 64 kB and other notes before it."""

OPENAI_BASE, OPENAI_TILE, TILE = 85, 170, 512
OPENAI_LONG, OPENAI_SHORT = 2048, 768
"""Pixels to which the longer and then the shorter side are scaled down."""
ANTHROPIC_LONG, ANTHROPIC_PIXELS, ANTHROPIC_MOST = 1568, 750, 1600
"""Pixels of the longer side, pixels of a token, most tokens."""
OPENAI_UNKNOWN, ANTHROPIC_UNKNOWN = OPENAI_BASE + 8 * OPENAI_TILE, ANTHROPIC_MOST
"""A picture of unknown size: as much as one can cost."""


def picture_tokens(sizes: Iterable[Size], chat_format: ChatFormat) -> int:
    """Tokens of these pictures, as the provider counts them; 0 without chat messages."""
    price = PRICES.get(chat_format)
    return sum(map(price, sizes)) if price else 0


def size_of(data: str) -> Size:
    """The size that the first bytes of a PNG, JPEG, GIF or WebP tell. data: base64."""
    head = data[:MAX_HEAD_CHARS]
    try:
        first = base64.b64decode(head[: len(head) // 4 * 4])
    except binascii.Error:
        return UNKNOWN
    if first.startswith(b"\x89PNG\r\n\x1a\n"):
        return _big(first[16:20]), _big(first[20:24])
    if first[:6] in {b"GIF87a", b"GIF89a"}:
        return _little(first[6:8]), _little(first[8:10])
    if first[:4] == b"RIFF" and first[8:12] == b"WEBP":
        return _webp(first)
    return _jpeg(first) if first.startswith(b"\xff\xd8") else UNKNOWN


def _openai(size: Size) -> int:
    width, height = size
    if not width or not height:
        return OPENAI_UNKNOWN
    scale = min(1.0, OPENAI_LONG / max(size))
    scale *= min(1.0, OPENAI_SHORT / (scale * min(size)))
    tiles = 1
    for side in size:
        tiles *= max(-(-int(scale * side) // TILE), 1)
    return OPENAI_BASE + OPENAI_TILE * tiles


def _anthropic(size: Size) -> int:
    width, height = size
    if not width or not height:
        return ANTHROPIC_UNKNOWN
    scale = min(1.0, ANTHROPIC_LONG / max(size))
    return min(int(scale * width) * int(scale * height) // ANTHROPIC_PIXELS + 1, ANTHROPIC_MOST)


PRICES: Mapping[ChatFormat, Callable[[Size], int]] = {"openai": _openai, "responses": _openai, "anthropic": _anthropic}
"""Tokens of a picture of that size."""


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
            return UNKNOWN


MARKER = 0xFF
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG behind which its size stands."""


def _jpeg(data: bytes) -> Size:
    at = 2
    while at + 9 <= len(data) and data[at] == MARKER:
        if data[at + 1] in FRAMES:
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        at += 2 + max(_big(data[at + 2 : at + 4]), 2)
    return UNKNOWN


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
