"""Lines that are no prose are blanked, and sentences of prose are told."""

import pytest

from builder.extras.summaries.prose import is_prose, without_blocks


@pytest.mark.parametrize(
    "line",
    [
        "2024-05-08 09:12:01 INFO started",
        "Traceback (most recent call last):",
        "def fire(kiln):",
        "| a | b |",
        "12 passed, 1 failed in 3.2s",
        "kiln,cone,hours,cost",
        "https://example.org/kiln",
        "x = {'a': 1};",
    ],
)
def test_lines_that_are_no_prose_are_blanked_and_all_places_stay(line: str) -> None:
    text = f"The kiln is hot.\n{line}\nWe fire it."
    shown = without_blocks(text)
    assert len(shown) == len(text)
    assert shown.split() == ["The", "kiln", "is", "hot.", "We", "fire", "it."]


def test_a_fence_is_blanked_also_when_it_is_never_closed() -> None:
    assert without_blocks("See:\n```\nfire()").strip() == "See:"


@pytest.mark.parametrize(
    "sentence", ["We fire the kiln at cone 6.", "Look at `kiln.py`, then at /etc/kiln/conf.", "[image kiln.png]"]
)
def test_a_sentence_that_names_things_is_prose(sentence: str) -> None:
    assert is_prose(sentence)


@pytest.mark.parametrize("sentence", ["if (a <= b) { return x; }", "4711 0815 1234 5678", "{'a': [1, 2]}"])
def test_signs_and_digits_are_none(sentence: str) -> None:
    assert not is_prose(sentence)
