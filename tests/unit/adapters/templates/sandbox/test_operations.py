"""Bounds are never below what an operator, a filter or a method makes."""

import json
from typing import Any

import pytest
from jinja2 import TemplateRuntimeError
from jinja2.exceptions import SecurityError

from builder.adapters.templates.sandbox.operations import FILTERS, of_method, of_operator


@pytest.mark.parametrize(
    ("operator", "left", "right", "made"), [("*", "ab", 50, "ab" * 50), ("*", 3, [1, 2], [1, 2] * 3), ("+", "ab", "cd", "abcd")]
)
def test_an_operator_is_charged_for_at_least_its_result(operator: str, left: Any, right: Any, made: Any) -> None:
    assert of_operator(operator, left, right) >= len(made)


@pytest.mark.parametrize(("operator", "left", "right"), [("*", 2**1_500, 2**1_500), ("+", 1, 2**2_001)])
def test_numbers_of_too_many_bits_are_refused(operator: str, left: int, right: int) -> None:
    with pytest.raises(TemplateRuntimeError, match="bits"):
        of_operator(operator, left, right)


@pytest.mark.parametrize("text", ["{:{}}", "{0[}]:{1}}", "{0[{]:>{1}}", "{:9999999}", "{!r:>9999999}", "{0.x}", "{a[b]}"])
def test_fields_that_are_more_than_a_name_are_refused(text: str) -> None:
    with pytest.raises(TemplateRuntimeError, match="more than a name"):
        of_method(text, "format")(text, 1)


@pytest.mark.parametrize("values", [([[["x"]]], "\t" * 50), ([1] * 30, 40), ({"a": {"b": "\U0001f600"}}, None)])
def test_json_is_charged_for_its_indent_at_every_level(values: tuple[Any, Any]) -> None:
    value, indent = values
    assert FILTERS["tojson"](value, indent) >= len(json.dumps(value, indent=indent))


@pytest.mark.parametrize("precision", [1_001, -1_001])
def test_numbers_are_rounded_to_few_places(precision: int) -> None:
    with pytest.raises(TemplateRuntimeError, match="places"):
        FILTERS["round"](5, precision)


def test_a_method_is_charged_for_at_least_its_result() -> None:
    assert of_method("abab", "replace")("abab", "a", "xyz") >= len("xyzbxyzb")
    assert of_method(", ", "join")(", ", ["a", "b"]) >= len("a, b")


@pytest.mark.parametrize("name", ["encode", "translate", "center", "count", "__class__"])
def test_other_methods_are_not_for_templates(name: str) -> None:
    with pytest.raises(SecurityError, match="use a filter"):
        of_method("x", name)


def test_a_filter_is_charged_for_its_values() -> None:
    assert FILTERS["upper"]("abc") >= 3
    assert FILTERS["first"](["abc"] * 1_000) == 1


@pytest.mark.parametrize("name", ["strip"])
def test_a_search_that_takes_the_product_of_its_texts_is_charged_for_it(name: str) -> None:
    assert of_method("a", name)("a" * 10_000, "b" * 10_000) > 5_000_000
    assert of_method("a", name)("a" * 10_000, "b") < 80_000
    assert FILTERS["trim"]("a" * 10_000, "b" * 10_000) > 5_000_000
