"""What a tool answered: which list is its result list, what is kept of it, and how a huge body is bounded."""

import json
from typing import Any

import pytest

from builder.adapters.templates.cuts.results import CHARACTERS_PER_VALUE, bounded_body, cut_results, pruned, shortened, stub
from builder.adapters.templates.folder import MAX_STRIKES, TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.tokens import load_counter
from builder.app.config import bundled_folder, read_layers
from builder.assemble.items.forms import WHOLE
from builder.domain.tool_output import Cut
from tests.factories import PHRASES, left_out, make_breadcrumb

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


HUGE: dict[str, Any] = {
    "numbers": list(range(50_000)),
    "rows": [{"a": n, "b": "xy"} for n in range(12_000)],
    "texts": ["Some words on the weather."] * 10_000,
    "nested": [[[n] * 10] * 10 for n in range(500)],
    "fields": {f"field {n}": n for n in range(20_000)},
}


def values(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(values, inner))


def more(number: int) -> str:
    return PHRASES("entries_left_out", number=number, id="m1")


def test_a_list_and_an_object_say_how_many_entries_are_missing() -> None:
    assert pruned(list(range(9)), 5 * CHARACTERS_PER_VALUE, more) == [0, 1, 2, 3, "[… 5 more left out, id m1 …]"]
    assert pruned({"a": 1, "b": 2, "c": 3}, 2 * CHARACTERS_PER_VALUE, more) == {"a": 1, "…": "[… 2 more left out, id m1 …]"}
    assert pruned({"a": [1, 2]}, 1_000, more) == {"a": [1, 2]}


def test_later_texts_give_way_to_earlier_ones_with_a_mark() -> None:
    first, second = shortened(["one " * 10, "two " * 100], 80, left_out)
    assert first == "one " * 10
    assert len(second) < 120
    assert "characters left out …]" in second


@pytest.mark.parametrize("kind", HUGE)
def test_a_huge_body_of_any_make_is_shown_by_its_own_hint_as_far_as_a_page_goes(kind: str) -> None:
    longest = 64_000
    templates = TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))
    rendering = JinjaRendering(templates, load_counter("o200k_base"), max_chars=longest)
    for schema, body in (
        ("tool.response.v1", {"tool": "search", "status": "success", "request_id": "r1", "output": HUGE[kind]}),
        ("order.v1", {"order": HUGE[kind]}),
    ):
        crumb = make_breadcrumb("", schema=schema, tool="search", body=json.dumps(body))
        fragment = rendering.fragment(crumb, WHOLE, "User", cap=4_000)
        assert fragment.failed == ""
        assert "left out" in fragment.text
        assert fragment.tokens <= 4_000
        assert values(pruned(body, longest, more)) <= 2 * longest // CHARACTERS_PER_VALUE


def test_what_people_send_makes_no_hint_rest() -> None:
    """A template that has little to do and exceeds its limits is to blame; one that is given much is not."""
    templates = TemplateSet({"generic": "{% for one in text %}{% for other in text %}.{% endfor %}{% endfor %}{{ text }}"}, {})

    def fails(text: str) -> str:
        try:
            return templates.hint("generic", {"text": text}, len(text))
        except Exception as error:  # noqa: BLE001 - its kind does not leave the package
            return str(error)

    assert all("rests" not in fails("x" * 50_000) for _ in range(2 * MAX_STRIKES))
    assert fails("short").endswith("short")


def test_json_that_mcp_sends_as_text_is_the_table_that_it_holds() -> None:
    records = [{"deal": f"D-{number}", "owner": "Mia"} for number in range(3)]
    part = {"type": "text", "text": json.dumps(records)}
    for output in ({"content": [part], "isError": False}, [part]):
        assert bounded_body(json.dumps({"output": output}), 10_000, (left_out, left_out))["output"] == records


@pytest.mark.parametrize("text", ["[" * 100 + "]" * 100, '[{"price": 12.50}]', '{"a": 1, "a": 2}', "{not JSON}"])
def test_what_json_would_say_otherwise_stays_the_text_that_mcp_sent(text: str) -> None:
    output = [{"type": "text", "text": text}]
    assert bounded_body(json.dumps({"output": output}), 10_000, (left_out, left_out))["output"] == text
