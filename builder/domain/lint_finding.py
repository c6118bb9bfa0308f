"""Problems of profiles and templates for their author, and the nearest right word."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

Severity = Literal["error", "note"]
"""error: the file is refused or does not do what it says. note: it works."""
MIN_LIKENESS = 0.6
NAME_LIKENESS = 0.8
"""Least likeness to a misspelt name of an author."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One problem with its remedy."""

    file: str
    """Path in the templates folder."""
    line: int = 0
    """From 1; 0 for the whole file."""
    place: str
    """Setting or section; "" = the whole file."""
    problem: str
    fix: str
    severity: Severity = "error"

    def __str__(self) -> str:
        """The one line that people read."""
        line, place = f" line {self.line}" if self.line else "", f"{self.place}: " if self.place else ""
        note = "note: " if self.severity == "note" else ""
        return f"{self.file}{line}: {note}{place}{self.problem}; {self.fix}"


def nearest(word: str, words: Iterable[str], likeness: float = MIN_LIKENESS) -> str:
    """The most similar word, ignoring case; "" = none."""
    by_case = {each.casefold(): each for each in sorted(words)}
    near = get_close_matches(word.casefold(), by_case, 1, likeness)
    return by_case[near[0]] if near else ""


def advice(word: str, words: Iterable[str], likeness: float = MIN_LIKENESS) -> str:
    """Remedy for an unknown word: the nearest one, or all."""
    choices = sorted(words)
    near = nearest(word, choices, likeness)
    return f"write {near}" if near else f"use one of {', '.join(choices)}"
