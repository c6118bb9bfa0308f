"""What a text shows by its words alone, and which question needs what was said before."""
# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.language.follow_ups import is_follow_up
from builder.language.traits import Trait, traits
from tests.factories import make_terms


@pytest.mark.parametrize("text", ["Where is it?", "你在哪里？", "متى؟", "Really?  \n"])
def test_a_question_ends_with_its_mark(text: str) -> None:
    assert Trait.ASKS in traits(text)
    assert Trait.ASKS not in traits(f"{text} Never mind.")


@pytest.mark.parametrize(
    "text",
    [
        "We met yesterday",
        "in March",
        "at 10:30",
        "back in 1998",
        "Wir treffen uns morgen",
        "Nos vemos mañana",
        "Увидимся завтра",
        "昨天见面",
    ],
)
def test_times_are_told_in_several_languages(text: str) -> None:
    assert Trait.TIME in traits(text)


@pytest.mark.parametrize("text", ["I live in Lisbon", "a train to the Hague", "Ich komme aus Berlin", "Я живу в Москве"])
def test_places_are_told_by_their_preposition(text: str) -> None:
    assert Trait.PLACE in traits(text)


@pytest.mark.parametrize("text", ["", "The kiln is hot.", "inside the workshop"])
def test_plain_prose_shows_nothing(text: str) -> None:
    assert traits(text) == Trait(0)


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
