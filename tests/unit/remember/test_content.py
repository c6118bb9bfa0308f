"""The words of a body: JSON as lines, content parts joined."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from builder.remember.content import text_of
from builder.remember.schemas.base import Text

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
