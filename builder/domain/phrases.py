"""The fixed phrases of a page, in its language."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from string import Formatter
from typing import Any

MONTHS = 12
SEPARATOR = "thousands"
Mark = Callable[[int], str]
"""Amount left out → the mark in its place."""


class _NumberText(Formatter):
    """`str.format` with a language's thousands separator."""

    def __init__(self, separator: str) -> None:
        self._separator = separator

    def format_field(self, value: Any, format_spec: str) -> str:
        text: str = super().format_field(value, format_spec)
        return text.replace(",", self._separator) if format_spec == "," else text


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """A catalogue of phrases; hashed by identity, as a key of caches."""

    entries: Mapping[str, str] = field(default_factory=dict)
    """Name → checked text with fields in braces."""

    def __call__(self, name: str, **values: Any) -> str:
        """The phrase with its values; its name if it is missing."""
        text, separator = self.entries.get(name, name), self.entries.get(SEPARATOR, ",")
        return text.format(**values) if separator == "," else _NumberText(separator).format(text, **values)

    def day(self, moment: date) -> str:
        """The day in the words of the catalogue."""
        months = self("months").split()
        month = months[moment.month - 1] if len(months) == MONTHS else f"{moment:%m}"
        return self("day", day=moment.day, month=month, year=moment.year)

    def time(self, moment: datetime) -> str:
        """The time of day by the clock of the catalogue."""
        return moment.strftime(self.entries.get("clock", "%H:%M"))

    def counted(self, one: str, many: str, number: int) -> str:
        """The phrase for this number of things."""
        return self(one if number == 1 else many, number=number)
