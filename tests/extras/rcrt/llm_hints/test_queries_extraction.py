"""JSONPath within the limits of a rendering."""

import json
from typing import Any

import pytest
from jsonpath import JSONPathError

from builder.adapters.templates.sandbox.runtime import LimitExceeded, Limits, metered
from builder.extras.rcrt.llm_hints.queries import Extraction

CATALOG = {"tools": [{"name": "openrouter", "price": 3}, {"name": "file-storage", "price": 0}], "total": 2}
NESTED: Any = [[[[{"b": [1, 2, 3] * 100}] * 5] * 5] * 5]


def value(query: str, body: Any = CATALOG) -> Any:
    with metered(Limits(), len(json.dumps(body))):
        return Extraction(query).value(body)


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("$.tools[*].name", ["openrouter", "file-storage"]),
        ("$.tools[0].name", "openrouter"),
        ("$.total", 2),
        ("$.nothing", None),
        ("$..price", [3, 0]),
        ("$.tools[?@.price > 1].name", "openrouter"),
        ("$.tools[?length(@.name) == 12].name", "file-storage"),
        ("$.tools[-1:].name", "file-storage"),
        ("$", CATALOG),
    ],
)
def test_nothing_is_null_one_is_the_value_and_many_are_a_list(query: str, result: Any) -> None:
    assert value(query) == result


@pytest.mark.parametrize(
    "query",
    [
        "",
        "$[",
        "$.",
        "tools",
        "$.tools[",
        "$.a b",
        "$.tools[?match(@.name, '(a+)+$')]",
        "$[?search(@.b, 'x')]",
        "$.a | $.b",
        "$.tools[?@.name =~ /(a+)+$/]",
        "$" + ".a" * 600,
        "$" + "[?" * 400,
        "$[?" + "(" * 400,
        "^.a",
        "$.tools.~",
        "$[?@.x in ['a']]",
    ],
)
def test_what_is_no_rfc_9535_or_cannot_be_bounded_is_refused_with_what_to_do(query: str) -> None:
    with pytest.raises(ValueError, match="; "):
        Extraction(query)


@pytest.mark.parametrize(
    "query",
    [
        "$..*..*..*",
        "$..*[?@..*]",
        "$[?count($..*) > count(@..*)]..*..*",
        "$..[?@ == $]",
        "$[?count(@..*) > 99999]",
        "$[?@[?count(@..*) > 99999]]",
        "$" + "[*,*]" * 12,
        "$..[?count($..*) > 1]",
        "$" + "..[0,0,0,0]" * 8,
        "$..[?@..[?@..[?@..nope]]]",
    ],
)
def test_a_query_that_visits_more_than_a_rendering_may_ends_with_an_exceeded_limit(query: str) -> None:
    with pytest.raises(LimitExceeded):
        value(query, NESTED)


@pytest.mark.parametrize(
    "query",
    [
        "$[" + ",".join(["?@.a"] * 190) + "]",
        "$[?" + " || ".join(["@.a"] * 120) + "]",
        "$[?" + " || ".join(["@ == 2"] * 100) + "]",
        "$" + "[*]" * 3 + "[?@ > 1]",
        "$" + "[0:]" * 5,
    ],
)
def test_a_long_list_of_plain_values_costs_no_more_than_a_rendering_may(query: str) -> None:
    with metered(Limits(), 0), pytest.raises(LimitExceeded):
        Extraction(query).value([[[1] * 200_000]] if "[*]" in query else [1] * 500_000)


def test_a_body_that_is_nested_too_deeply_is_no_answer_but_an_error() -> None:
    deep: Any = {}
    for _ in range(200):
        deep = {"a": deep}
    with pytest.raises(JSONPathError):
        value("$..a", deep)
