"""What templates may do with values, and the rule that keeps message text from forging the page."""

import json
import re
from typing import Any

_STRUCTURE = re.compile(r"\s*(#|`{3}|~{3}|=+\s*$|-+\s*$|_{3}|\*{3}|[-*+>|<]|\d+[.)]\s)")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])(?=\s|$)|(?<=[。！？])|\n")

INDENT = "    "
SHORT = 160
"""Characters of a table cell or list item that is shown in one line."""


class Rendered(str):
    """Text that has been through `quote` once."""

    __slots__ = ()


def quote(value: Any) -> Any:
    """Message text as a value on the page: it can open no heading, fence, list or section (design §3, features G11).

    Every line but the first is indented by four spaces, which Markdown reads as a continuation whatever stands there; a
    first line that would open structure is indented too. Blank lines go. Ordinary one-line prose is unchanged.
    """
    if isinstance(value, Rendered) or not isinstance(value, str):
        return value
    lines = [line.rstrip() for line in value.splitlines() if line.strip()]
    if not lines:
        return Rendered("")
    first = INDENT + lines[0].lstrip() if _STRUCTURE.match(lines[0]) else lines[0]
    return Rendered(f"\n{INDENT}".join((first, *lines[1:])))


def sentence(text: Any) -> str:
    """The first sentence of a text."""
    return " ".join(_SENTENCE_END.split(str(text).strip(), maxsplit=1)[0].split())


def readable(value: Any) -> str:
    """Any JSON value as text for people: no brackets, no quotes, nothing empty.

    Few plain values stand in one line ("count 1; max 137"), more of them one a line; of a list each item has a line.
    """
    if isinstance(value, dict):
        pairs = [(str(key), item) for key, item in value.items() if item not in (None, "", [], {})]
        line = "; ".join(f"{key} {_plain(item)}" for key, item in pairs if not isinstance(item, dict | list))
        if len(line) <= SHORT and "\n" not in line and all(not isinstance(item, dict | list) for _, item in pairs):
            return line
        return "\n".join(_pair(key, item) for key, item in pairs)
    if isinstance(value, list):
        if all(not isinstance(item, dict | list) for item in value):
            return ", ".join(map(_plain, value))
        return "\n".join(f"- {inline(item)}" for item in value)
    return _plain(value)


def inline(value: Any) -> str:
    """Any JSON value in one line, long texts clipped: for arguments of calls and items of lists."""
    if isinstance(value, dict):
        pairs = [(key, inline(item)) for key, item in value.items() if item not in (None, "", [], {})]
        return "; ".join(f"{key} {text}" for key, text in pairs)
    if isinstance(value, list):
        return ", ".join(map(inline, value))
    text = " ".join(_plain(value).split())
    return text if len(text) <= SHORT else text[:SHORT].rsplit(" ", 1)[0] + " …"


def _pair(key: str, value: Any) -> str:
    inner = readable(value)
    return f"{key}: {inner}" if "\n" not in inner else f"{key}:\n{inner}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
