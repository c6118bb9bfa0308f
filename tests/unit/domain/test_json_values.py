"""JSON is read, bounded and walked."""

from typing import Any

import pytest

from builder.domain.json_values import MAX_DEPTH, clean, depth, parse, texts, with_texts


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def test_nul_and_lone_surrogates_are_replaced_in_texts_and_keys() -> None:
    assert clean({"a\0": ["\ud800b", 1]}) == {"a�": ["�b", 1]}


def test_characters_that_a_stream_cut_are_whole_also_side_by_side() -> None:
    assert clean(["\ud83d", "\ude00\ud83d", "\ude01"]) == ["😀", "😁", ""]


def test_nesting_is_accepted_up_to_the_limit() -> None:
    assert clean(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    for value in (nested(MAX_DEPTH + 1), nested(MAX_DEPTH) and {"a": nested(MAX_DEPTH)}):
        with pytest.raises(ValueError, match="nested deeper than 64 levels"):
            clean(value)


@pytest.mark.parametrize("text", ["[NaN]", "[Infinity]", "[1e999]", "{", "[" * 100_000])
def test_what_is_no_json_that_every_store_takes_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the reasons are Python's
        parse(text)


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
    assert depth(nested(5_000)) == 5_000
