"""Bounds are never below what an operator, a filter or a method makes."""

from typing import Any

import pytest
from jinja2 import TemplateRuntimeError
from jinja2.exceptions import SecurityError

from builder.adapters.templates.sandbox.size_bounds import of_filter, of_method, of_operator


@pytest.mark.parametrize(
    ("operator", "left", "right", "made"),
    [("*", "ab", 50, "ab" * 50), ("*", 3, [1, 2], [1, 2] * 3), ("+", "ab", "cd", "abcd"), ("%", "%05d-%s", (7, "x"), "00007-x")],
)
def test_an_operator_is_charged_for_at_least_its_result(operator: str, left: Any, right: Any, made: Any) -> None:
    values = right if isinstance(right, tuple) else (right,)
    bound = of_operator(operator, left, values if operator == "%" else right)
    assert bound >= len(made)


@pytest.mark.parametrize(("operator", "left", "right"), [("**", 10, 10_000), ("*", 2**1_500, 2**1_500), ("+", 1, 2**2_001)])
def test_numbers_of_too_many_bits_are_refused(operator: str, left: int, right: int) -> None:
    with pytest.raises(TemplateRuntimeError, match="bits"):
        of_operator(operator, left, right)


@pytest.mark.parametrize("text", ["%*d", "{:{}}", "%9999999d"])
def test_formats_whose_width_cannot_be_bounded_are_refused(text: str) -> None:
    with pytest.raises(TemplateRuntimeError, match="width"):
        of_method(text, "format")(text, 1)


def test_a_method_is_charged_for_at_least_its_result() -> None:
    assert of_method("a", "center")("a", 500) >= 500
    assert of_method("abab", "replace")("abab", "a", "xyz") >= len("xyzbxyzb")
    assert of_method(", ", "join")(", ", ["a", "b"]) >= len("a, b")


@pytest.mark.parametrize("name", ["encode", "translate", "__class__"])
def test_other_methods_are_not_for_templates(name: str) -> None:
    with pytest.raises(SecurityError, match="use a filter"):
        of_method("x", name)


def test_a_filter_without_a_bound_of_its_own_is_charged_for_its_values() -> None:
    assert of_filter("upper")("abc") >= 3
    assert of_filter("first")(["abc"] * 1_000) == 1
