"""The texts of JSON values are read and changed wherever they stand."""

from typing import Any

import pytest

from builder.domain.text import depth, texts, with_texts

VALUE = {"a": "one", "b": [{"c": "two"}, 3, None, ["three"]], "d": {}}


def test_texts_come_in_order_and_keys_are_none() -> None:
    assert list(texts(VALUE)) == ["one", "two", "three"]


def test_texts_are_changed_and_everything_else_stays() -> None:
    assert with_texts(VALUE, str.upper) == {"a": "ONE", "b": [{"c": "TWO"}, 3, None, ["THREE"]], "d": {}}


def test_keys_are_changed_only_by_their_own_function() -> None:
    assert with_texts({"a": {"b": "c"}}, str.upper, lambda key: f"<{key}>") == {"<a>": {"<b>": "C"}}


@pytest.mark.parametrize(
    ("value", "levels"), [("x", 0), ([], 1), ({}, 1), ([[]], 2), ({"a": [{"b": 1}]}, 3), ([1, [2], {"a": [[]]}], 4)]
)
def test_depth_counts_lists_and_objects_within_each_other(value: Any, levels: int) -> None:
    assert depth(value) == levels


def test_the_depth_of_a_value_that_is_nested_thousands_of_times_is_found() -> None:
    value: Any = "x"
    for _ in range(5_000):
        value = [value]
    assert depth(value) == 5_000
