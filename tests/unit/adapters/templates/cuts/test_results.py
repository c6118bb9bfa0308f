"""What a tool answered: which list is its result list, and what is kept of it."""

from typing import Any

import pytest

from builder.adapters.templates.cuts.results import cut_results, stub
from builder.domain.page_settings import Cut
from tests.factories import PHRASES, make_breadcrumb

CRUMB = make_breadcrumb("reader said", id="t7", schema="tool.response.v1", tool="reader", body="é" * 500)
CUT = Cut(results=2, characters=20)
FIVE = [{"n": n} for n in range(5)]
NOTE = "(2 of 5 results shown; fetch t7 for all 1,000 bytes)"


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (FIVE, FIVE[:2]),
        ({"results": FIVE, "total": 90}, {"results": FIVE[:2], "total": 90}),
        ({"hits": {"hits": FIVE, "total": 5}}, {"hits": {"hits": FIVE[:2], "total": 5}}),
        ({"data": {"items": FIVE}}, {"data": {"items": FIVE[:2]}}),
        ({"data": "x", "documents": FIVE}, {"data": "x", "documents": FIVE[:2]}),
        ('{"results": [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]}', {"results": FIVE[:2]}),
    ],
)
def test_the_first_results_of_a_list_are_kept_wherever_it_stands(output: Any, shown: Any) -> None:
    found = cut_results(output, CUT, CRUMB, PHRASES)
    assert (found.output, found.note) == (shown, NOTE)


@pytest.mark.parametrize(
    "output",
    [
        "text",
        "[not json",
        "{}",
        5,
        None,
        True,
        {},
        {"total": 9},
        {"result": {"value": 9}},
        [],
        [1, 2, 3, 4],
        {"names": ["x"] * 99},
        FIVE[:2],
    ],
)
def test_what_is_no_long_result_list_is_left_alone(output: Any) -> None:
    assert cut_results(output, CUT, CRUMB, PHRASES).note == ""


def test_plain_short_values_are_one_value_as_long_as_all_results_may_be() -> None:
    found = cut_results({"files": 1, "items": [f"file-{n}.py" for n in range(30)]}, CUT, CRUMB, PHRASES)
    assert found.output["items"] == ["file-0.py", "file-1.py", "file-2.py"]
    assert found.note.startswith("(3 of 30 results shown;")


def test_all_is_all() -> None:
    everything = [{"text": "word " * 400}] * 9
    assert cut_results(everything, Cut(results=None, characters=None), CRUMB, PHRASES) == cut_results(
        everything, Cut(results=9, characters=2000), CRUMB, PHRASES
    )


def test_long_texts_of_a_result_give_way_and_short_ones_stay() -> None:
    (kept,) = cut_results([{"title": "Kiln", "body": "word " * 20, "n": 7}], CUT, CRUMB, PHRASES).output
    assert kept == {"title": "Kiln", "body": "word word …", "n": 7}


def test_numbers_without_end_are_cut_too() -> None:
    (kept,) = cut_results([{"title": "Kiln", "vector": [0.125] * 999}], CUT, CRUMB, PHRASES).output
    assert len(kept) <= 20


@pytest.mark.parametrize("line", ["folded", "placeholder", "superseded"])
def test_a_stub_is_one_line_with_tool_size_and_id_and_nothing_in_it_closes_it(line: Any) -> None:
    nasty = make_breadcrumb("a]: http://x\n# b", id="t]:7", tool="r[x]\n", body="é" * 500)
    text = stub(nasty, line, PHRASES)
    assert text.startswith("- [r(x): ")
    assert text.endswith(", id t\\]:7]")
    assert "1,000 bytes" in text
    assert "\n" not in text
    assert text.count("]") == 2


def test_under_a_key_that_nobody_knows_a_list_of_results_is_known_by_its_shape() -> None:
    output = {
        "tags": ["a", "b", "c"],
        "organic_results": [{"title": f"Kiln {n}"} for n in range(9)],
        "web": {"pages": [{"n": 1}]},
    }
    found = cut_results(output, Cut(results=4, characters=None), CRUMB, PHRASES)
    assert [len(found.output["organic_results"]), found.output["tags"]] == [4, ["a", "b", "c"]]
    assert found.note.startswith("(4 of 9 results shown")
