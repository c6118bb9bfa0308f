"""Lists of rules: what a person lists below a heading such as "Our conventions" is a rule, whatever its words are."""

import re
from typing import NamedTuple

from builder.language.instruction_patterns import ITEM, languages

MAX_ITEMS, MAX_CHARS = 20, 1_500
"""The most that all lists of a message have. More are a document, and stand on no page again and again."""
MAX_TITLE_CHARS = 60
_BOX = re.compile(r"\[[ xX]?\]")
"""The box of a task."""
_AROUND = re.compile(r"^\W+|\W+$")
"""Signs around the words of a heading."""


class RuleItem(NamedTuple):
    """An item of a list below a heading."""

    start: int
    end: int
    language: str
    """ISO 639-1 code of the heading's."""


def rule_items(text: str, start: int, end: int) -> tuple[RuleItem, ...]:
    """Those between two characters, in order, without their marks; () where a person asks for work on the text.

    Indented lines belong to the item above them.
    """
    every, others = list[RuleItem](), list[str]()
    position, language = start, ""
    for line in text[start:end].splitlines(keepends=True):
        begin, position = position, position + len(line)
        mark, last = ITEM.match(line), begin + len(line.rstrip())
        if last == begin:
            continue
        if language and mark and not _BOX.match(line, mark.end()):
            every.append(RuleItem(begin + mark.end(), last, language))
        elif language and every and line[0].isspace():
            every[-1] = every[-1]._replace(end=last)
        else:
            others.append(line)
            language = _language_of_title(line)
    is_cut = bool(language) and end < len(text)
    return () if is_cut or _is_document(every, others) else tuple(every)


def _is_document(items: list[RuleItem], others: list[str]) -> bool:
    """others: the lines beside the items."""
    if not items:
        return False
    is_long = len(items) > MAX_ITEMS or sum(item.end - item.start for item in items) > MAX_CHARS
    return is_long or any(language.tasks.search(line.strip()) for language in languages() for line in others)


def _language_of_title(line: str) -> str:
    """The ISO 639-1 code; "" = the line is no heading of rules."""
    title = _AROUND.sub("", line)
    is_key = line.rstrip() == f"{title}:" and title.islower() and " " not in title  # of YAML
    if len(title) > MAX_TITLE_CHARS or is_key:
        return ""
    return next((language.code for language in languages() if language.titles.fullmatch(title)), "")
