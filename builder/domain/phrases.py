"""The fixed phrases of a page, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

MONTHS = 12
Mark = Callable[[int], str]
"""Amount left out → the mark in its place."""


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """A catalogue of phrases. Equal to itself only, so that it can be the key of a cache."""

    entries: Mapping[str, str] = field(default_factory=dict)
    """Name → text with its fields in braces; the reader of the catalogue has checked them."""

    def __call__(self, name: str, **values: Any) -> str:
        """The phrase with its values; of a catalogue that lacks it, its name."""
        return self.entries.get(name, name).format(**values)

    def day(self, moment: date) -> str:
        """The day in the words of the catalogue."""
        months = self("months").split()
        month = months[moment.month - 1] if len(months) == MONTHS else f"{moment:%m}"
        return self("day", day=moment.day, month=month, year=moment.year)

    def counted(self, one: str, many: str, number: int) -> str:
        """The phrase for this number of things."""
        return self(one if number == 1 else many, number=number)
