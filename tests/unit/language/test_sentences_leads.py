"""The line that says what a passage of a long answer is about."""

import pytest

from builder.language.sentences import MAX_LEAD_CHARS, with_lead

ANSWER = "Here is the plan.\n\n## Glaze\nMix it thin.\n\n**Kiln:**\nFire at noon. Open it on Monday."


def lead(text: str, passage: str) -> str:
    """What stands in front of a passage."""
    start = text.index(passage)
    (first, *others) = with_lead(text, ((start, start + len(passage)),))
    return text[slice(*first)] if others else text[first[0] : start]


@pytest.mark.parametrize(
    ("passage", "line"),
    [("Open it on Monday.", "**Kiln:**"), ("Mix it thin.", "## Glaze\n"), ("## Glaze", "Here is the plan.\n\n")],
)
def test_it_is_the_nearest_heading_or_the_first_sentence(passage: str, line: str) -> None:
    assert lead(ANSWER, passage) == line


def test_the_whole_text_its_beginning_and_a_text_without_a_short_line_have_none() -> None:
    assert with_lead(ANSWER, ()) == ()
    assert with_lead(ANSWER, ((0, 9),)) == ((0, 9),)
    long = f"{'clay ' * MAX_LEAD_CHARS}and so on. Fire at noon."
    start = long.index("Fire")
    assert with_lead(long, ((start, len(long)),)) == ((start, len(long)),)
