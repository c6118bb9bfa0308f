"""A picture costs what its provider counts; its size stands in its first bytes."""

import base64
import struct

import pytest

from builder.assemble.items.pictures import ANTHROPIC_UNKNOWN, OPENAI_UNKNOWN, UNKNOWN, Size, picture_tokens, size_of
from builder.domain.page_settings import ChatFormat


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", width, height)


def jpeg(width: int, height: int, *, before: bytes = b"") -> bytes:
    note = b"\xff\xe1" + struct.pack(">H", len(before) + 2) + before
    return b"\xff\xd8" + note + b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03"


def webp(chunk: bytes, data: bytes) -> bytes:
    return b"RIFF\x00\x00\x00\x00WEBP" + chunk + b"\x00\x00\x00\x00" + data


LOSSLESS = struct.pack("<I", 799 | 599 << 14)
FILES = {
    "png": png(800, 600),
    "gif": b"GIF89a" + struct.pack("<HH", 800, 600),
    "jpeg": jpeg(800, 600),
    "jpeg behind a preview of 60 kB": jpeg(800, 600, before=b"\xd8" * 60_000),
    "webp": webp(b"VP8 ", b"\x00" * 6 + struct.pack("<HH", 800, 600)),
    "webp without loss": webp(b"VP8L", b"\x2f" + LOSSLESS),
    "webp with more": webp(b"VP8X", b"\x00" * 4 + (799).to_bytes(3, "little") + (599).to_bytes(3, "little")),
}


@pytest.mark.parametrize("name", FILES)
def test_the_size_of_a_picture_is_read_from_its_first_bytes(name: str) -> None:
    assert size_of(base64.b64encode(FILES[name]).decode()) == (800, 600)


@pytest.mark.parametrize("data", ["", "no base64!", "AAAA", base64.b64encode(b"\xff\xd8\xff").decode()])
def test_what_is_no_picture_has_no_size(data: str) -> None:
    assert size_of(data) == UNKNOWN


@pytest.mark.parametrize(
    ("size", "chat_format", "tokens"),
    [
        ((800, 600), "openai", 765),
        ((1024, 1024), "openai", 765),
        ((2048, 4096), "openai", 1105),
        ((100, 100), "openai", 255),
        (UNKNOWN, "openai", OPENAI_UNKNOWN),
        ((800, 600), "responses", 765),
        ((800, 600), "anthropic", 641),
        ((8000, 8000), "anthropic", 1600),
        (UNKNOWN, "anthropic", ANTHROPIC_UNKNOWN),
        ((800, 600), "none", 0),
    ],
)
def test_a_picture_costs_what_the_provider_publishes(size: Size, chat_format: ChatFormat, tokens: int) -> None:
    assert picture_tokens([size], chat_format) == tokens
