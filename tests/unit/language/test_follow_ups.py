"""Which question needs what was said before."""

# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.language.follow_ups import is_follow_up
from tests.factories import make_terms


@pytest.mark.parametrize(
    "text",
    [
        "And what about the second one?",
        "Why?",
        "What did she say?",
        "Which one is cheaper?",
        "And how much is it?",
        "Und der andere?",
        "Und warum?",
        "¿Y el otro?",
        "那第二个呢？",
        "为什么？",
        "А второй?",
        "Et l'autre ?",
    ],
)
def test_a_question_that_leans_on_what_was_said_is_a_follow_up(text: str) -> None:
    assert is_follow_up(text, make_terms)


@pytest.mark.parametrize(
    "text",
    [
        "Where is the kiln?",
        "How long does the glaze firing take?",
        "Okay, and where did we say the openrouter key goes? I'm setting up the new machine now",
        "Which libraries are used in this project?",
        "Why are flowers important on the market?",
        "Wo steht der Ofen für die Glasur?",
        "釉料烧制需要多长时间才能完成？",
        "Thanks!",
        "ok",
        "",
    ],
)
def test_what_says_it_all_or_asks_nothing_is_none(text: str) -> None:
    assert not is_follow_up(text, make_terms)
