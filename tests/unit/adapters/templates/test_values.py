"""A hint is given the text of its form, and nothing else of it."""

import re
from pathlib import Path

import pytest

from builder.adapters.templates.faults import GROUP_FIELDS, SECTION_FIELDS
from builder.adapters.templates.sandbox.filters import OWN_FILTERS
from builder.adapters.templates.values import VALUES, plain_item, values_of
from builder.assemble.items.forms import WHOLE, RenderForm
from tests.factories import PHRASES, make_breadcrumb

GUIDE = (Path(__file__).resolve().parents[4] / "builder" / "docs" / "templates.md").read_text("utf-8")
TEXT = "One sentence. Another one. A third."


@pytest.mark.parametrize(
    ("spans", "text"),
    [
        ((), TEXT),
        (((0, 13),), "One sentence. […]"),
        (((14, 26),), "[…] Another one. […]"),
        (((0, 13), (27, 35)), "One sentence. […] A third."),
        (((0, 14), (14, 35)), TEXT),
    ],
)
def test_passages_stand_in_order_with_a_mark_wherever_text_is_left_out(spans: tuple[tuple[int, int], ...], text: str) -> None:
    values = values_of(make_breadcrumb(TEXT), {}, RenderForm(spans=spans), "Ana", 1_000, PHRASES)
    assert (values["text"], values["partial"]) == (text, bool(spans))


def test_every_value_of_a_hint_is_known_to_the_linter() -> None:
    assert values_of(make_breadcrumb(), {}, WHOLE, "Ana", 10, PHRASES).keys() == VALUES


def test_without_any_template_speaker_and_text_are_an_item() -> None:
    values = values_of(make_breadcrumb("Hello."), {}, WHOLE, "Ana", 100, PHRASES)
    assert plain_item(values, PHRASES) == "- Ana: Hello."


def table_of(heading: str, column: str) -> set[str]:
    """The names in the first column of a table of the guide."""
    section = GUIDE.split(f"## {heading}\n")[1].split("\n## ")[0]
    table = section.split(f"| {column} |")[1].split("\n\n")[0]
    return set(re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE))


def test_the_guide_for_authors_has_every_value_and_every_filter_and_no_others() -> None:
    assert table_of("What a hint has", "value") == VALUES
    assert table_of("What a hint has", "filter") == OWN_FILTERS.keys()
    fields = {f"section.{name}" for name in SECTION_FIELDS} | {f"group.{name}" for name in GROUP_FIELDS}
    assert table_of("What a page has", "value") == fields
