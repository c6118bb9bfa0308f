"""Where text stands on a page: every fragment is an item of a list, and all of its text stays inside.

Markdown closes an item with the first line that is not indented. Whatever stands in further lines of an item (headings, fences,
lists, tables, also a fence that nobody closed) lives and ends in it, so no text is altered to be harmless.
"""

import re
from typing import Any

ITEM, INSIDE = "- ", "  "
"""What begins an item, and what keeps a further line inside."""
MARK, START = "\0", "\0\0"
"""In front of a further line of a value, and of the value itself. Stored text has no NUL."""
DEEPEST = 64
"""Characters of a template's own indent that further lines of a value are moved by; more would be repeated for each line."""

_LINE_END = re.compile("\r\n?")
_BULLET = re.compile(r"(?P<indent> *)- ")
_STRUCTURE = re.compile(r"#{1,6}(?:\s|$)|`{3}|~{3}|(?:[-*_]\s*){3,}$|[-*+]\s|\d{1,9}[.)]\s|[>|]| {4}|\t")


class Rendered(str):
    """Text that has been through `quote` once."""

    __slots__ = ()


def quote(value: Any) -> Any:
    """A value of a template with its lines marked, so that `items` can tell them from the template's own."""
    if isinstance(value, Rendered) or not isinstance(value, str):
        return value
    text = _LINE_END.sub("\n", value.replace(MARK, ""))
    return Rendered(START + text.replace("\n", f"\n{MARK}"))


def block(value: Any) -> str:
    """A text behind a label: where its first line opens structure that goes on, it gets lines of its own."""
    text = _LINE_END.sub("\n", str(value)).strip("\n").rstrip()
    first, more, _ = text.partition("\n")
    return f"\n\n{text}" if more and _STRUCTURE.match(first) else text if more else text.strip()


def below(value: Any) -> str:
    """A text behind a label: where it has several lines it begins below."""
    text = _LINE_END.sub("\n", str(value)).strip("\n").rstrip()
    if "\n" not in text:
        return text.strip()
    return f"\n\n{text}" if _STRUCTURE.match(text) else f"\n{text}"


def items(text: str) -> str:
    """Rendered text as one item, or as the items that its template wrote; the marks are resolved.

    A line of a value stays inside of the item of the template's line that it began in. A template's line that begins no item,
    or begins with a value, continues the item above it, and is one where there is none.
    """
    lines: list[str] = []
    margin = ""
    for line in text.split("\n"):
        plain = line.replace(MARK, "")
        if line.startswith(MARK) and not line.startswith(START):
            lines.append(margin + plain if plain else "")
            continue
        plain = plain.rstrip()
        bullet = _BULLET.match(line)
        if bullet:
            margin = " " * min(len(bullet["indent"]), DEEPEST) + INSIDE
            lines.append(plain)
        elif plain:
            lines.append((margin or ITEM) + plain)
            margin = margin or INSIDE
    return "\n".join(lines).rstrip()


def unmarked(text: str) -> str:
    """A page's text: what is not a fragment has one line."""
    return text.replace(f"\n{MARK}", " ").replace(MARK, "")


def spoken(item: str, speaker: str) -> str:
    """What an item says, without its bullet, its indent, and the speaker in front if any is given."""
    first, *more = item.removeprefix(ITEM).split("\n")
    lines = [line.removeprefix(INSIDE) for line in more]
    label = f"{speaker}:"
    if first == label:
        return "\n".join(lines).strip("\n")
    return "\n".join((first.removeprefix(f"{label} ") if speaker else first, *lines))
