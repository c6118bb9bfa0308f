"""JSON in its canonical form, and its shape."""

from typing import Any

import pytest

from builder.domain.json_text import canonical, shape


def test_equal_values_have_equal_canonical_text() -> None:
    assert (
        canonical({"b": [1, 1.5, None], "a": "ü"}) == canonical({"a": "ü", "b": [1, 1.5, None]}) == '{"a":"ü","b":[1,1.5,null]}'
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("abc", "a text of 3 characters"),
        ({"a": 1}, "an object of 1"),
        ([1, 2], "a list of 2"),
        (None, "null"),
        (True, "a boolean"),
        (1.5, "a number"),
    ],
)
def test_a_shape_says_the_kind_of_a_value_without_its_words(value: Any, words: str) -> None:
    assert shape(value) == words
