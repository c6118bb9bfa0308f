"""What a text shows by its words alone."""

# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.language.traits import Trait, traits


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
