"""Dotted paths into a body."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.sandbox.runtime import LimitExceeded, Limits, metered
from builder.extras.rcrt.llm_hints.rules import excluded, included, parse_path, values_at

ORDER = {
    "number": 7,
    "customer": {"name": "Joost", "address": {"city": "Delft", "geo": None}},
    "lines": [{"item": "kiln", "sku": "K1"}, {"item": "glaze"}, "a note"],
}


@pytest.fixture(autouse=True)
def _metered() -> Iterator[None]:
    with metered(Limits(), 10_000):
        yield


@pytest.mark.parametrize(
    ("paths", "kept"),
    [
        (["number"], {"number": 7}),
        (["customer.name"], {"customer": {"name": "Joost"}}),
        (["customer.*.city"], {"customer": {"address": {"city": "Delft"}}}),
        (["lines.item"], {"lines": [{"item": "kiln"}, {"item": "glaze"}]}),
        (["lines.*.sku"], {"lines": [{"sku": "K1"}]}),
        (["lines.1"], {"lines": [{"item": "glaze"}]}),
        (["lines[0].sku", "number"], {"number": 7, "lines": [{"sku": "K1"}]}),
        (["customer.address.geo"], {"customer": {"address": {"geo": None}}}),
        (["customer", "customer.name"], {"customer": ORDER["customer"]}),
        (["*"], ORDER),
        (["nothing", "number.of.these", "lines.7"], {}),
    ],
)
def test_include_keeps_what_the_paths_lead_to_in_its_place(paths: list[str], kept: Any) -> None:
    assert included(ORDER, map(parse_path, paths)) == kept


@pytest.mark.parametrize(
    ("paths", "rest"),
    [
        (["lines", "customer"], {"number": 7}),
        (["customer.address.geo", "lines"], {"number": 7, "customer": {"name": "Joost", "address": {"city": "Delft"}}}),
        (["lines.*.sku", "customer"], {"number": 7, "lines": [{"item": "kiln"}, {"item": "glaze"}, "a note"]}),
        (["lines.sku", "customer"], {"number": 7, "lines": [{"item": "kiln"}, {"item": "glaze"}, "a note"]}),
        (["lines.0", "customer"], {"number": 7, "lines": [{"item": "glaze"}, "a note"]}),
        (["*"], {}),
        (["nothing.at.all"], ORDER),
    ],
)
def test_exclude_takes_away_what_the_paths_lead_to(paths: list[str], rest: Any) -> None:
    assert excluded(ORDER, map(parse_path, paths)) == rest


def test_the_values_at_a_path_come_in_order() -> None:
    assert list(values_at(ORDER, parse_path("lines.*.item"))) == ["kiln", "glaze"]
    assert list(values_at(ORDER, parse_path("customer.name"))) == ["Joost"]
    assert list(values_at(ORDER, parse_path("customer.nick"))) == []


@pytest.mark.parametrize("text", ["", " ", "a..b", ".a", "a.", "a b", "x" * 501])
def test_what_is_no_path_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no path; write names with dots"):
        parse_path(text)


keys = st.sampled_from(("a", "b", "0", "c.d"))
json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
)
paths = st.lists(st.lists(st.sampled_from(("a", "b", "0", "*")), min_size=1, max_size=4).map(tuple), max_size=4)


@given(st.dictionaries(keys, json_values, max_size=4), paths)
def test_including_and_excluding_are_each_done_once_they_are_done(body: dict[str, Any], taken: list[tuple[str, ...]]) -> None:
    """Indices move when an item of a list goes, so they are left out here."""
    named = [path for path in taken if "0" not in path]
    with metered(Limits(), 10_000):
        kept, rest = included(body, named), excluded(body, named)
        assert included(kept, named) == kept
        assert excluded(rest, named) == rest
        assert excluded(kept, [path[:1] for path in named]) == {}
        assert [list(values_at(rest, path)) for path in named] == [[] for _ in named]
        assert [list(values_at(kept, path)) for path in named] == [list(values_at(body, path)) for path in named]


def test_paths_are_charged_for_every_node_that_they_look_at() -> None:
    huge = {"rows": [{"a": {"b": number}} for number in range(50_000)]}
    with metered(Limits(), len("x")), pytest.raises(LimitExceeded):
        included(huge, [parse_path("rows.*.a.b")])
