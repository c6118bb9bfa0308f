"""JSON on its way to the page: readable, every key and value of it, and no cell that ends its row."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.sandbox.json_text import inline, readable, table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("text", "text"),
        (True, "true"),
        (12, "12"),
        (1.5, "1.5"),
        ([], "[]"),
        ({}, "{}"),
        ([1, "a", None], "1, a, null"),
        (["a, b", "c"], "- a, b\n- c"),
        ({"count": 1, "max": 137}, "count: 1\nmax: 137"),
        ({"empty": "", "none": None, "list": [], "no": False}, 'empty: ""\nnone: null\nlist: []\nno: false'),
        ({"street": "Rua 12", "name": "Ana", "title": "Dr"}, "street: Rua 12\nname: Ana\ntitle: Dr"),
        ({"result": {"value": 12}}, "result: value: 12"),
        ({"place": {"floor": 3, "rooms": [{"n": 1}]}, "ok": True}, "place:\n  floor: 3\n  rooms: - n: 1\nok: true"),
        ({"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], "n": 2}, "rows:\n  - a: 1\n    b: x\n  - a: 2\n    b: y\nn: 2"),
        ([{"title": "A", "tags": ["x", "y"]}, {"title": "B"}], "- title: A\n  tags: x, y\n- title: B"),
        ([[1, 2], [3]], "- 1, 2\n- 3"),
        ({"text": "one\n\n  two", "n": 1}, "text:\n  one\n\n    two\nn: 1"),
        (["A sentence that is longer than forty characters.", "b"], "- A sentence that is longer than forty characters.\n- b"),
        ({"long": "x" * 1700, "n": 1}, f"long: {'x' * 1700}\nn: 1"),
    ],
)
def test_json_reads_as_text_without_brackets_and_quotes(value: Any, text: str) -> None:
    assert readable(value) == text


def test_a_list_of_like_objects_is_a_table_where_that_is_shorter_and_nothing_of_it_is_clipped() -> None:
    rows = [{"id": n, "city": "Faro", "open": True} for n in range(9)]
    assert readable(rows).splitlines()[:3] == ["9 rows", "| id | city | open |", "|---|---|---|"]
    longer = [{"title": "A", "text": "word " * 60}, {"title": "B", "text": "釉" * 300}]
    assert readable(longer) == f"- title: A\n  text: {'word ' * 60}\n- title: B\n  text: {'釉' * 300}"


def test_inline_is_one_line_whatever_comes() -> None:
    value = {"a": [1, {"b": "x\n\ny"}], "c": {"d": None, "e": 2}, "title": "T"}
    assert inline(value) == "a: 1, b: x y; c: d: null; e: 2; title: T"
    assert inline("") == ""


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_readable_and_inline_has_no_line_end(value: Any) -> None:
    assert isinstance(readable(value), str)
    assert "\n" not in inline(value)


def test_a_table_has_the_caption_of_the_page() -> None:
    assert readable([{"city": "Delft", "degrees": 9}] * 6, {"rows": "{number} Zeilen"}).startswith("6 Zeilen\n")


TOWNS = [{"city": "Delft", "degrees": 9}, {"city": "Leiden", "degrees": 10}, {"city": "Gouda", "degrees": 8}] * 2


def test_like_objects_are_a_table() -> None:
    assert readable(TOWNS) == "6 rows\n| city | degrees |\n|---|---|" + "\n| Delft | 9 |\n| Leiden | 10 |\n| Gouda | 8 |" * 2
    assert readable({"cities": TOWNS, "n": 3}).startswith("cities:\n  6 rows\n  | city | degrees |\n  |---|---|")


def test_objects_that_are_not_alike_nested_wide_or_few_stay_a_list() -> None:
    for rows in (
        TOWNS[:2],
        [{"a": 1}, {"b": 1}, {"c": 1}],
        [*TOWNS, {"city": ["x"]}],
        [{"t": "x" * 90, "n": 1}] * 5,
        [*TOWNS, "x"],
    ):
        assert readable(rows).startswith("- ")


@given(
    st.lists(st.fixed_dictionaries({"a": st.text(max_size=9), "b|c": st.text("|\\ -\nx", max_size=9)}), min_size=3, max_size=6)
)
def test_no_cell_can_end_its_cell_or_its_row(rows: list[dict[str, str]]) -> None:
    found = table(rows, "{number} rows")
    lines = found.split("\n")[1:]
    assert len(lines) == len(rows) + 2
    assert all(line.replace("\\\\", "").replace("\\|", "").count("|") == 3 for line in lines)
