"""Every fragment is an item of a list, and all of its text stays inside.

Markdown closes an item with the first line that is not indented, so headings, fences and tables of a text end in its item, and no
text is altered: it can be read back byte for byte, but for white space at its end and the kind of line ends.
"""

import re
from typing import Any

ITEM, INSIDE = "- ", "  "
"""Beginning of an item, and of its further lines."""
HOLE = "- …"
"""The line where something of the conversation is not shown."""
NO_LABEL = ":"
"""Before a text that cannot be right after the bullet and has no label that it could be below."""
MARK = "\0"
"""Before a value, and at the end of each of its lines but the last. Stored text has no NUL."""
MAX_INDENT_CHARS = 64
"""Characters of a template's own indent that further lines of a value are moved by; more would be repeated for each line."""

_BLANK = " \t\n"
LINE_END = re.compile("\r\n?|[\u2028\u2029]")
_TEMPLATE_LINE_END = re.compile(f"(?<!{MARK})\n")
_BULLET = re.compile(r"(?P<indent> *)-(?: |$)")
_RULE = re.compile(r"[- \t]*$")
_STRUCTURE = re.compile(
    r"\s|#{1,6}(?:\s|$)|`{3}|~{3}|(?:[-*_=][ \t]*){3,}$|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)|[>|]|<[A-Za-z/!?]|$", re.MULTILINE
)
_UNDERLINE = re.compile(r"\s*+(?:=++|[-|:][-|: \t]*+)[^\S\n]*+(?:\n|\Z)")
"""A line that makes the line above it a heading, or the head of a table.

It never goes back: in a text of many blanks that would take hours.
"""


class Rendered(str):
    """Text that has been through `quote` once."""

    __slots__ = ()


def quote(value: Any) -> Any:
    """A value of a template with its lines marked, so that `items` can tell them from the template's own."""
    if isinstance(value, Rendered) or not isinstance(value, str) or not value:
        return value
    text = LINE_END.sub("\n", value.replace(MARK, ""))
    return Rendered(MARK + text.replace("\n", f"{MARK}\n"))


def block(value: Any) -> str:
    """A text after a label: it begins below, after an empty line, where its lines have a shape."""
    text = _trimmed(value)
    return f"\n\n{text}" if "\n" in text and _has_shape(text) else text


def below(value: Any) -> str:
    """A text after a label: it begins below where it has several lines, after an empty line if they have a shape."""
    text = _trimmed(value)
    if "\n" not in text:
        return text
    return f"\n\n{text}" if _has_shape(text) else f"\n{text}"


def _trimmed(value: Any) -> str:
    return LINE_END.sub("\n", _plain(str(value))).rstrip(_BLANK)


def _has_shape(text: str) -> bool:
    return bool(_STRUCTURE.match(text) or _UNDERLINE.match(text, text.index("\n") + 1))


def items(text: str) -> str:
    """Rendered text as one item, or as the items that its template wrote; the marks are resolved.

    A line of a value stays in the item of its template line. A template line that begins no item continues the one above.
    """
    lines: list[str] = []
    margin = ""
    for line in _TEMPLATE_LINE_END.split(text):
        first, *more = line.split(f"{MARK}\n")
        bullet = _BULLET.match(first)
        if not more or first.endswith(MARK):
            first = first.rstrip(_BLANK + MARK)
        if not bullet and margin:
            lines += _continued(margin, first.removeprefix(margin)) if first or more else []
        else:
            indent = bullet["indent"][:MAX_INDENT_CHARS] if bullet and margin else ""
            opening = _opened_by(indent, first[bullet.end() :] if bullet else first, more)
            margin = indent + INSIDE if opening else margin
            lines += opening
        lines += [_inside(margin, part) for part in more]
    return "\n".join(lines).rstrip(_BLANK)


def unmarked(text: str) -> str:
    """A page's text: what is not a fragment has one line."""
    return _plain(text.replace(f"{MARK}\n", " "))


def _opened_by(indent: str, first: str, more: list[str]) -> list[str]:
    plain = _plain(first if first.startswith(MARK) else first.lstrip(_BLANK))
    if not plain and not more:
        return []
    is_head = "|" in plain and more and _UNDERLINE.match(_plain(more[0]))
    if not plain or plain == NO_LABEL or plain[0] in _BLANK or _RULE.match(plain) or is_head:
        return [indent + ITEM + NO_LABEL, "", _inside(indent + INSIDE, plain)]
    return [indent + ITEM + plain]


def _continued(margin: str, text: str) -> list[str]:
    line = _inside(margin, text)
    return ["", line] if _UNDERLINE.match(line) else [line]


def _inside(margin: str, text: str) -> str:
    """A line of an item; an empty one has no margin."""
    plain = _plain(text)
    return margin + plain if plain else ""


def _plain(text: str) -> str:
    return text.replace(MARK, "")
