"""Values of a file with their lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.chat_files.json_lines import json_values


def read(text: str) -> list[tuple[int, object]]:
    return [(each.line, each.problem or each.value) for each in json_values(text.split("\n"))]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}\n\n{"a": 2}\r\n', [(1, {"a": 1}), (3, {"a": 2})]),
        ('\ufeff{"a": 1}', [(1, {"a": 1})]),
        ('[{"a": 1}, {"a": 2}]', [(1, {"a": 1}), (1, {"a": 2})]),
        ('[\n {"a": 1},\n {"a":\n  2},\n]', [(2, {"a": 1}), (3, {"a": 2})]),
        ('\n{\n "a": 1\n}\n{\n "a": 2\n}', [(2, {"a": 1}), (5, {"a": 2})]),
        ("5\nnull", [(1, 5), (2, None)]),
        ("[]", []),
        ("", []),
    ],
)
def test_each_value_has_the_line_at_which_it_begins(text: str, values: list[tuple[int, object]]) -> None:
    assert read(text) == values


@pytest.mark.parametrize(
    ("text", "lines", "rest"),
    [
        ('{"a": 1}\n{"a": "ha', [2], [{"a": 1}]),
        ('{"a": "ha\n{"a": 1}\n{"a": 2}', [1], [{"a": 1}, {"a": 2}]),
        ('{"a":\n{"a": 1}\n{"a": 2}', [1], [{"a": 1}, {"a": 2}]),
        ('# chat\n# more\n{"a": 1}', [1, 2], [{"a": 1}]),
        ('[\n {"a": 1},\n {"a" 2},\n {"a": 3}\n]', [3], [{"a": 1}, {"a": 3}]),
        ('[\n {\n  "a" 1\n },\n {\n  "a": 3\n }\n]', [2], [{"a": 3}]),
        ('{"a": NaN}\n{"a": 1}', [1], [{"a": 1}]),
        ('{"a": "\udcfc"}\n{"a": 1}', [1], [{"a": 1}]),
        ("[" * 100_000 + '\n{"a": 1}', [1], [{"a": 1}]),
    ],
)
def test_what_is_no_json_is_named_by_its_line_and_the_rest_is_read(text: str, lines: list[int], rest: list[object]) -> None:
    values = list(json_values(text.split("\n")))
    assert [each.line for each in values if each.problem] == lines
    assert [each.value for each in values if not each.problem] == rest


@given(st.text(st.sampled_from('{}[]",:\n 1ané')), st.booleans())
def test_any_text_is_read_to_its_end(text: str, is_list: bool) -> None:
    values = read("[\n" + text if is_list else text)
    assert all(line >= 1 for line, _ in values)


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2)), st.sampled_from([None, 1]))
def test_a_list_is_its_items_however_it_is_written(items: list[object], indent: int | None) -> None:
    assert [value for _, value in read(json.dumps(items, indent=indent))] == items
