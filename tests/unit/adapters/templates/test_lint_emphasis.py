"""Emphasis is counted with its words; a little of it is right."""

import pytest

from builder.adapters.templates.lint import first_line, overused


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ALWAYS answer. NEVER guess. You MUST cite.", ""),
        ("ALWAYS this, ALWAYS that, NEVER so, MUST be.", "4 emphasis markers (ALWAYS 2 times, MUST, NEVER)"),
        ("DO NOT GUESS. READ THIS FIRST. NO JSON PLEASE. STOP AND THINK.",
         "4 runs of capitals (DO NOT GUESS, NO JSON PLEASE, READ THIS FIRST, STOP AND THINK)"),
        ("Stop!! No!!! Now!! Go!!!!", "4 times !!"),
        ("**a** " * 7, "7 bold texts"),
        ("**a** " * 6, ""),
        ("MUST MUST!! NEVER!! **a**", "3 emphasis markers (MUST 2 times, NEVER), 2 times !!"),
        ("HTTP API, JSON, NASA and the USA AND THE UN", "")
    ],
)  # fmt: skip
def test_too_much_is_told_with_the_words_and_their_number(text: str, problem: str) -> None:
    assert overused(text) == problem


def test_its_first_line_is_known() -> None:
    assert first_line("quiet\nstill\nYou MUST stop!!") == 3
    assert first_line("quiet") == 0
