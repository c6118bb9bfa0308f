"""A question is seen by its mark."""

# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.language.questions import asks, asks_within


@pytest.mark.parametrize(
    ("text", "at_end", "within"),
    [
        ("Red?", True, True),
        ('"Red?"', True, True),
        ("Red? Blue.", False, True),
        ("红色吗？蓝色。", False, True),
        ("a?b.", False, False),
    ],
)
def test_a_question_is_seen_at_the_end_and_within(text: str, at_end: bool, within: bool) -> None:
    assert (asks(text), asks_within(text)) == (at_end, within)
