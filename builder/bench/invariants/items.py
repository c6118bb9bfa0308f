"""A page's markdown, or its tags, as sections of items: read line by line, because an item's further lines are indented."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

DATE = re.compile(r"\[(?P<date>[^\]]+)\]")
NOTE = re.compile(r"\(.+\)")
INSIDE = "  "


@dataclass(frozen=True, slots=True)
class Item:
    """What stands in one item, without its bullet and indent. date: the date line above it, "" = none."""

    text: str
    date: str = ""


@dataclass(slots=True)
class PageSection:
    """notes: lines of ours in front of the items."""

    name: str
    items: list[Item] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Parsed:
    """sections: in page order. strange: lines at the root of the page that are none of its own."""

    def __init__(self, markdown: str, titles: Mapping[str, str], *, tagged: bool, own: frozenset[str]) -> None:
        """titles: name → title of each section that there may be. own: names of those that are text of the profile."""
        self.sections: list[PageSection] = []
        self.strange: list[str] = []
        self._opening = {f"<{name}>" if tagged else f"## {title}": name for name, title in titles.items()}
        self._tagged = tagged
        self._date = ""
        self._lines: list[str] = []
        for line in markdown.splitlines():
            if not self._is_structure(line) and not (self.sections and self.sections[-1].name in own):
                self._read(line)
        self._close()

    def items(self, name: str) -> list[Item]:
        """Of the section of this name, none when it is not there."""
        return next((section.items for section in self.sections if section.name == name), [])

    def _is_structure(self, line: str) -> bool:
        name = self._opening.pop(line, "")  # each once
        if name:
            self._close()
            self._date = ""
            self.sections.append(PageSection(name))
        return bool(name) or (self._tagged and bool(self.sections) and line == f"</{self.sections[-1].name}>")

    def _read(self, line: str) -> None:
        if line.startswith("- "):
            self._close()
            self._lines.append(line[2:])
        elif self._lines and (not line or line.startswith(INSIDE)):
            self._lines.append(line.removeprefix(INSIDE))
        elif match := DATE.fullmatch(line):
            self._close()
            self._date = match["date"]
        elif NOTE.fullmatch(line) and self.sections and not self.sections[-1].items and not self._lines:
            self.sections[-1].notes.append(line)
        elif line:
            self.strange.append(line)

    def _close(self) -> None:
        if self._lines:
            text = "\n".join(self._lines).rstrip()
            item = Item(text.replace("&lt;", "<") if self._tagged else text, self._date)
            if self.sections:
                self.sections[-1].items.append(item)
            else:
                self.strange.append(item.text)
        self._lines = []
