"""What templates may do with values, and the rule that keeps message text from forging the page."""

import json
import re
from typing import Any

_STRUCTURE = re.compile(r"\s*(#|`{3}|~{3}|=+\s*$|-+\s*$|_{3}|\*{3}|[-*+>|<]|\d+[.)]\s)")
_OPENING = re.compile(r"[ \t]*(?:(?:[-*+>|]|\d+[.)])[ \t]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\w\.\w\.)(?=\s+[^a-z\s])|(?<=[。！？])|\n")

INDENT = "    "
SHORT = 160
"""Characters of a table cell or list item that is shown in one line."""
WORDY = 40
"""Characters from which the items of a plain list get a line each."""
NAMING = ("title", "name")
"""Keys that say what an object is: they come first, stored bodies have theirs sorted."""

_MARK = "\0"
"""Stands where a line of a value must not open anything; `settled` turns it into room. Stored text has no NUL."""


class Rendered(str):
    """Text that has been through `quote` once."""

    __slots__ = ()


def quote(value: Any) -> Any:
    """Message text as a value of a template: it can open no heading, fence, list or section (design §3, features G11).

    Every line but the first is marked, and the first if it would open structure; blank lines go. Ordinary one-line prose is
    unchanged. What the marks become depends on where the template puts the value: see `settled`.
    """
    if isinstance(value, Rendered) or not isinstance(value, str):
        return value
    lines = [line.rstrip() for line in value.replace(_MARK, "").splitlines() if line.strip()]
    if not lines:
        return Rendered("")
    first = _MARK + lines[0].lstrip() if _STRUCTURE.match(lines[0]) else lines[0]
    return Rendered(f"\n{_MARK}".join((first, *lines[1:])))


def settled(text: str) -> str:
    """Rendered text with its marks as four spaces, counted from where the template's own line has its content.

    Markdown reads such a line as a continuation, whatever stands in it. A mark in the middle of a line goes.
    """
    lines = []
    margin = ""
    for line in text.split("\n"):
        if line.startswith(_MARK):
            lines.append(margin + INDENT + line.replace(_MARK, ""))
            continue
        opening = _OPENING.match(line)
        start = opening.group() if opening else ""
        margin = " " * len(start)
        guard = INDENT if line.startswith(_MARK, len(start)) else ""
        lines.append(start + guard + line[len(start) :].replace(_MARK, ""))
    return "\n".join(lines)


def sentence(text: Any) -> str:
    """The first sentence of a text, with its full stop."""
    first = " ".join(_SENTENCE_END.split(str(text).strip(), maxsplit=1)[0].split())
    return f"{first}." if re.search(r"[\w)\]\"'»”]$", first) else first


def readable(value: Any) -> str:
    """Any JSON value as text for people: no brackets, no quotes, nothing empty, title and name first.

    Few plain values stand in one line ("count 1; max 137"), more of them one a line; of a list each item has a line.
    """
    if isinstance(value, dict):
        pairs = _pairs(value)
        line = "; ".join(f"{key} {_plain(item)}" for key, item in pairs if not _nested(item))
        if len(line) <= SHORT and "\n" not in line and not any(_nested(item) for _, item in pairs):
            return line
        return "\n".join(_pair(key, item) for key, item in pairs)
    if isinstance(value, list):
        if not any(_nested(item) or len(_plain(item)) > WORDY for item in value):
            return ", ".join(map(_plain, value))
        return "\n".join(f"- {inline(item)}" for item in value)
    return "" if value is None else _plain(value)


def inline(value: Any) -> str:
    """Any JSON value in one line, long texts clipped: for arguments of calls and items of lists."""
    if isinstance(value, dict):
        return "; ".join(f"{key} {inline(item)}" for key, item in _pairs(value))
    if isinstance(value, list):
        return ", ".join(map(inline, value))
    text = " ".join(_plain(value).split())
    return text if len(text) <= SHORT else text[:SHORT].rsplit(" ", 1)[0] + " …"


def _pairs(value: dict[str, Any]) -> list[tuple[str, Any]]:
    held = [(key, item) for key, item in value.items() if item not in (None, "", [], {})]
    return sorted(held, key=lambda pair: NAMING.index(pair[0]) if pair[0] in NAMING else len(NAMING))


def _nested(value: Any) -> bool:
    return isinstance(value, dict | list)


def _pair(key: str, value: Any) -> str:
    inner = readable(value)
    if "\n" not in inner:
        return f"{key}: {inner}"
    start = "\n  " if _nested(value) else " "
    return f"{key}:{start}" + inner.replace("\n", "\n  ")


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
