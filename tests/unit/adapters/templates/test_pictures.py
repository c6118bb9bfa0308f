"""Pictures are found in the bodies of all vendors; the size of one stands in its first bytes."""

import base64
import json
import struct
from typing import Any

import pytest

from builder.adapters.templates.pictures import images_of, size_of
from builder.assemble.items.rendering import UNKNOWN_SIZE, Image


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
    assert size_of(data) == UNKNOWN_SIZE


PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x03\xfb\x00\x00\x02\xff\x08\x02\xfb\xff").decode()
ADDRESS = "https://img.example/mug.png"


@pytest.mark.parametrize(
    "body",
    [
        {"content": [{"image": {"format": "png", "source": {"bytes": PNG}}}]},
        {"content": "Look.", "images": [PNG]},
        {"content": "Look.", "images": [f"data:image/png;base64,{PNG}"]},
        {"content": [{"type": "file", "mediaType": "image/png", "data": PNG}]},
        {"content": [{"type": "image", "image": PNG}]},
        {"content": [{"inline_data": {"mime_type": "image/png", "data": PNG.replace("+", "-").replace("/", "_").rstrip("=")}}]},
        {"content": [{"type": "image", "source": {"type": "base64", "media_type": "image/jpg", "data": PNG}}]},
        {"output": {"content": [{"type": "resource", "resource": {"uri": "file:///a", "mimeType": "image/png", "blob": PNG}}]}},
    ],
)
def test_a_picture_of_any_vendor_is_known_by_its_bytes(body: dict[str, Any]) -> None:
    assert images_of(json.dumps(body)) == (Image(media="image/png", data=PNG),)


@pytest.mark.parametrize(
    "body",
    [
        {"content": [{"type": "file", "mediaType": "image/png", "url": ADDRESS}]},
        {"content": [{"type": "file", "mediaType": "image/*", "url": ADDRESS}]},
        {"content": "Look.", "experimental_attachments": [{"name": "a.png", "contentType": "image/png", "url": ADDRESS}]},
        {"content": "Look.", "images": [ADDRESS]},
    ],
)
def test_an_address_of_a_picture_is_one(body: dict[str, Any]) -> None:
    assert [image.url for image in images_of(json.dumps(body))] == [ADDRESS]


def test_what_a_provider_would_refuse_is_no_picture() -> None:
    scan = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"%PDF-1.4").decode()},
    }
    drawing = {"type": "file", "mediaType": "image/svg+xml", "url": "https://img.example/a.svg"}
    assert images_of(json.dumps({"content": [scan, drawing]})) == ()
