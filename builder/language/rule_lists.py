"""Lists of rules: what a person lists below a heading such as "Conventions" is a rule, whatever its words are."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from builder.language.instruction_patterns import languages

MAX_ITEMS = 20
"""A longer list is a document."""
MAX_TITLE_CHARS = 60
_ITEM = re.compile(r"^\s*(?:[-*•–+]|\(?\d{1,2}[.)])\s+(?!\[[ xX]?\])")
"""The line of an item, which is no task of a list of tasks."""
_SIGNS = " \t\r\n#*_:："
"""Characters around the words of a heading."""


class RuleList(NamedTuple):
    """The items below a heading."""

    start: int
    end: int
    language: str
    """ISO 639-1 code of the heading's."""


def rule_lists(text: str, start: int = 0, end: int | None = None) -> Iterator[RuleList]:
    """Those between two characters, in order. Blank lines, and indented lines below an item, belong to a list."""
    position, language, items = start, "", list[tuple[int, int]]()
    for line in text[start:end].splitlines(keepends=True):
        begin, position = position, position + len(line)
        is_item = bool(_ITEM.match(line))
        if language and (is_item or (items and line[0].isspace())):
            items += [(begin, position)] if is_item else []
        elif line.strip():
            yield from _list_of(items, language)
            language, items = _language_of_title(line.strip(_SIGNS)), []
    yield from _list_of(items, language)


def _list_of(items: list[tuple[int, int]], language: str) -> Iterator[RuleList]:
    if 0 < len(items) <= MAX_ITEMS:
        yield RuleList(items[0][0], items[-1][1], language)


def _language_of_title(line: str) -> str:
    """The ISO 639-1 code; "" = the line is no heading of rules."""
    if len(line) > MAX_TITLE_CHARS:
        return ""
    return next((language.code for language in languages() if language.titles.fullmatch(line)), "")
