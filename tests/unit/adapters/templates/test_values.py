"""A hint is given the text of its form, and nothing else of it."""

import pytest

from builder.adapters.templates.values import VALUES, plain_item, values_of
from builder.assemble.items.forms import WHOLE, RenderForm
from tests.factories import PHRASES, make_breadcrumb

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
