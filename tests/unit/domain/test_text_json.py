"""JSON as it may come, and its one canonical form."""

from typing import Any

import pytest

from builder.domain.text import MAX_DEPTH, canonical, clean, parse, shape


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def test_equal_values_have_equal_canonical_text() -> None:
    assert (
        canonical({"b": [1, 1.5, None], "a": "ü"}) == canonical({"a": "ü", "b": [1, 1.5, None]}) == '{"a":"ü","b":[1,1.5,null]}'
    )


def test_nul_and_lone_surrogates_are_replaced_in_texts_and_keys() -> None:
    assert clean({"a\0": ["\ud800b", 1]}) == {"a�": ["�b", 1]}


def test_nesting_is_accepted_up_to_the_limit() -> None:
    assert clean(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    for value in (nested(MAX_DEPTH + 1), nested(MAX_DEPTH) and {"a": nested(MAX_DEPTH)}):
        with pytest.raises(ValueError, match="nested deeper than 64 levels"):
            clean(value)


@pytest.mark.parametrize("text", ["[NaN]", "[Infinity]", "[1e999]", "{", "[" * 100_000])
def test_what_is_no_json_that_every_store_takes_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the reasons are Python's
        parse(text)


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
