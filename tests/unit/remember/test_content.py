"""The words of a body: JSON as lines, images and files one short line each; their bytes are nobody's words."""

import base64
import random
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from builder.assemble.items.forms import RenderForm
from builder.remember.decode import decode
from builder.remember.schemas.base import Text
from builder.wire.attachments import attachment_line, without_data_urls
from builder.wire.words import brief, described, text_of
from tests.conversations import message_of
from tests.factories import make_rendering

TEXT = TypeAdapter[str](Text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ({"city": "Bonn", "days": 2}, "city: Bonn\ndays: 2"),
        ({"place": {"city": "Bonn"}, "empty": None}, "city: Bonn"),
        (["a", ["b", None], {"c": "d"}], "a\nb\nc: d"),
    ],
)
def test_the_words_of_json_are_lines_with_keys_in_front_of_plain_values(value: Any, text: str) -> None:
    assert text_of(value) == text


def test_content_parts_are_joined_and_an_image_is_a_line() -> None:
    parts = ["Look:", {"type": "text", "text": "a kiln"}, {"type": "image_url", "image_url": {"url": "https://x.org/k.png"}}]
    assert TEXT.validate_python(parts) == "Look:\na kiln\n[image https://x.org/k.png]"


def test_a_part_that_is_neither_text_nor_object_is_refused() -> None:
    with pytest.raises(ValidationError, match="a content part is int"):
        TEXT.validate_python([7])


BYTES = random.Random(7).randbytes(3000)  # noqa: S311 - any bytes
DATA = base64.b64encode(BYTES).decode()
URL = f"data:image/png;base64,{DATA}"


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "image_url", "image_url": {"url": URL, "detail": "high"}}, "[image, image/png, 3,000 bytes]"),
        ({"type": "image_url", "image_url": {"url": "https://a.example/kiln.png"}}, "[image https://a.example/kiln.png]"),
        ({"type": "input_image", "image_url": URL}, "[image, image/png, 3,000 bytes]"),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": DATA}},
            "[image, image/jpeg, 3,000 bytes]",
        ),
        ({"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}, "[image https://a.example/b.png]"),
        ({"type": "image", "data": DATA, "mimeType": "image/png"}, "[image, image/png, 3,000 bytes]"),
        ({"inline_data": {"mime_type": "audio/wav", "data": DATA}}, "[audio, audio/wav, 3,000 bytes]"),
        ({"type": "file", "file": {"filename": "curve.pdf", "file_data": DATA}}, "[file curve.pdf, 3,000 bytes]"),
        ({"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}, "[audio, wav, 3,000 bytes]"),
        (
            {"filename": "curve.csv", "media_type": "text/csv", "size": 18231, "caption": "bisque\nof [9 March]"},
            "[file curve.csv, text/csv, 18,231 bytes: bisque of (9 March)]",
        ),
        ({"type": "image"}, "[image]"),
        ({}, "[attachment]"),
    ],
)  # fmt: skip
def test_an_image_or_file_of_any_provider_is_one_short_line(part: dict[str, Any], said: str) -> None:
    assert attachment_line(part) == said


BODIES: list[tuple[str, dict[str, Any]]] = [
    ("user.message.v1", {"content": [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": URL}}]}),
    ("user.message.v1", {"content": "Look:", "attachments": [{"name": "a.png", "data": DATA}], "images": [URL]}),
    ("agent.response.v1", {"message": "Look:", "files": [{"name": "a.png", "content_type": "image/png", "base64": DATA}]}),
    ("tool.request.v1", {"tool": "Look:", "input": {"picture": URL}}),
    ("tool.response.v1", {"tool": "Look:", "output": [{"type": "text", "text": "a"}, {"type": "image", "data": DATA}]}),
    ("tool.response.v1", {"tool": "Look:", "output": {"picture": DATA, "n": 1}}),
    ("tool.error.v1", {"tool_name": "Look:", "error_message": URL}),
    ("browser.page.context.v1", {"url": "u", "title": "Look:", "content": {"mainText": URL}}),
    ("invoice.v1", {"say": "Look:", "scan": {"media_type": "image/png", "data": DATA}, "more": [URL]}),
]


@pytest.mark.parametrize(("schema", "body"), BODIES)
@pytest.mark.parametrize("spans", [(), ((0, 10),)])
def test_bytes_reach_neither_the_text_nor_the_page(schema: str, body: dict[str, Any], spans: tuple[tuple[int, int], ...]) -> None:
    held = decode(message_of(1, schema, body))
    page = make_rendering().fragment(held, RenderForm(spans=spans), held.tool or held.speaker).text
    for text in (held.text, page):
        assert "Look:" in text
        assert not any(DATA[start : start + 40] in "".join(text.split()) for start in range(0, len(DATA) - 40, 20))
    assert "bytes" in held.text
    assert len(held.text) < 200
    assert DATA[:70] in held.body.replace("\\n", ""), "the stored body keeps them"


@pytest.mark.parametrize(
    ("schema", "field"), [("user.message.v1", "content"), ("agent.response.v1", "message"), ("note.v1", "content")]
)
def test_what_somebody_writes_stays_as_it_was_written(schema: str, field: str) -> None:
    words = f"Look: ![kiln]({URL})"
    held = decode(message_of(1, schema, {field: words}))
    page = make_rendering().fragment(held, RenderForm(), held.speaker).text
    assert held.text == words
    assert words in page


def test_text_parts_of_a_tool_s_answer_are_its_text() -> None:
    assert described([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]) == "one\ntwo"


@pytest.mark.parametrize(
    "text",
    [
        "plain " * 100,
        "x" * 5000,
        "ACGT" * 200,
        "1234567890" * 60,
        "/".join(["some-long-folder"] * 40),
        "supercalifragilistic" * 30,
        "好" * 900,
        {"type": "file", "name": "a.py", "lines": 12},
        {"type": "document", "url": "https://a.example", "snippet": "s"},
        {"data": "plain", "n": 1},
        {"files": [{"name": "a.py"}, "b.py"]},
    ],
)
def test_what_only_looks_a_little_like_it_stays(text: Any) -> None:
    assert described(text) == text


def test_a_mark_is_not_marked_again() -> None:
    once = brief(f"a {URL} b {DATA}")
    assert brief(once) == once == "a [image, image/png, 3,000 bytes] b [encoded data, 3,000 bytes]"
    assert without_data_urls(once) == once


@pytest.mark.parametrize("kind", [[], {}, ["image"], None, 7])
def test_an_object_whose_type_is_no_text_is_no_attachment(kind: Any) -> None:
    value = {"type": kind, "data": "words", "source": {}}
    assert described(value) == value
