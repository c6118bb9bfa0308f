"""A huge body is bounded before it is rendered, whatever it is made of."""

import json
from typing import Any

import pytest

from builder.adapters.templates.cuts.results import CHARACTERS_PER_VALUE, pruned, shortened
from builder.adapters.templates.folder import MAX_STRIKES, TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.tokens import load_counter
from builder.app.config import bundled_folder, read_layers
from builder.assemble.items.rendering import WHOLE
from tests.factories import PHRASES, left_out, make_breadcrumb

HUGE: dict[str, Any] = {
    "numbers": list(range(150_000)),
    "rows": [{"a": n, "b": "xy"} for n in range(40_000)],
    "texts": ["Some words on the weather."] * 30_000,
    "nested": [[[n] * 10] * 10 for n in range(1_500)],
    "fields": {f"field {n}": n for n in range(60_000)},
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
