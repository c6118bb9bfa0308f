"""The fixed phrases of a page, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from hashlib import blake2b
from string import Formatter
from typing import Any

MONTHS = 12
SEPARATOR = "thousands"
"""Name of the thousands separator."""
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

    def counted(self, one: str, many: str, number: int) -> str:
        """The phrase for this number of things."""
        return self(one if number == 1 else many, number=number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """Files of one moment, kept so that contexts can be rebuilt."""

    templates: str
    """Revision of the templates, as contexts name it."""
    profiles: Mapping[str, str]
    """Consumer → revision of its profile, as contexts name it."""
    layers: tuple[Mapping[str, str], ...]
    """Path → text, the bundled files first."""

    @property
    def id(self) -> str:
        """Hash of the files."""
        digest = blake2b(digest_size=16)
        for layer in self.layers:
            for path, text in sorted(layer.items()):
                digest.update(f"{path}\0{text}\0".encode())
            digest.update(b"\1")
        return digest.hexdigest()
