"""What templates may do with values, and the rule that keeps message text from forging the page."""

import json
import re
from typing import Any

from builder.rendering.layouts import digest, table
from builder.rendering.missing import Missing, is_none

_STRUCTURE = re.compile(r"(?:#|`{3}|~{3}|=+\s*$|-+\s*$|(?:_\s*){3}|(?:\*\s*){3}|[-*+](?:\s|$)|[>|<]|\d+[.)](?:\s|$)|\[(?!…\]))")
_OPENING = re.compile(r"[ \t]*(?:(?:[-*+>|]|\d+[.)])[ \t]+)*")
_ESCAPED = re.compile(r"^(\d*)")
_TAG = re.compile(r"<(?=\s*/|[A-Za-z_!?])")
_NO_TAG_NAME = re.compile(r"[^\w.-]|^(?=[^A-Za-z_])", re.ASCII)
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\w\.\w\.)(?=\s+[^a-z\s])|(?<=[。！？])|\n")

INDENT = "    "
DEEPEST = 64
"""Characters of a template's own indent that further lines of a value are moved by; more would be repeated for each line."""
SHORT = 160
"""Characters of a list item, and of a flat object that is shown in one line."""
WORDY = 40
"""Characters from which the items of a plain list get a line each."""
NAMING = ("title", "name")
"""Keys that say what an object is: they come first, stored bodies have theirs sorted."""

_MARK, _GUARD = "\0", "\0\0"
"""A further line of a value; a first line that may not begin a line of the page. Stored text has no NUL."""


class Rendered(str):
    """Text that has been through `quote` once."""

    __slots__ = ()


class Kept(str):
    """Text that has been cut as its profile says, and is clipped no further."""

    __slots__ = ()


def quote(value: Any) -> Any:
    """Message text as a value of a template: it can open no heading, fence, list or section (design §3, features G11).

    Every line but the first is marked, and the first if it would open structure; blank lines and the first line's indent go.
    Ordinary one-line prose is unchanged. What the marks become depends on where the template puts the value: see `settled`.
    """
    if isinstance(value, Rendered) or not isinstance(value, str):
        return value
    lines = [line.rstrip() for line in value.replace(_MARK, "").splitlines() if line.strip()]
    if not lines:
        return Rendered("")
    start = lines[0].lstrip()
    space = " " if lines[0][0].isspace() else ""
    first = _GUARD + start if _STRUCTURE.match(start) else space + start
    return Rendered(f"\n{_MARK}".join((first, *lines[1:])))


def settled(text: str) -> str:
    """Rendered text with its marks resolved.

    Further lines of a value are indented by four spaces, counted from where the template's own line has its content: Markdown
    reads them as a continuation, whatever stands in them. A guarded first line is escaped where it begins a line of the page,
    so that it is neither structure nor part of what stands above it; anywhere else it stays as it was written.
    """
    lines = []
    margin = ""
    for line in text.split("\n"):
        if line.startswith(_MARK) and not line.startswith(_GUARD):
            # In a list by eight at least: a shortened list may leave the line below another item than its own.
            lines.append((margin + INDENT).ljust(2 * len(INDENT) if margin else 0) + line.replace(_MARK, ""))
            continue
        opening = _OPENING.match(line)
        start = opening.group() if opening else ""
        margin = " " * min(len(start), DEEPEST)
        rest = line[len(start) :].replace(_MARK, "")
        lines.append(start + (_ESCAPED.sub(r"\1\\", rest, count=1) if line.startswith(_GUARD, len(start)) else rest))
    return "\n".join(lines)


def untagged(text: str) -> str:
    """Text for a page of tags: nothing in it opens or closes one. "a < b" stays as it is."""
    return _TAG.sub("&lt;", text)


def tag(name: Any) -> str:
    """A section's name as the name of a tag."""
    return _NO_TAG_NAME.sub("_", str(name))


def sentence(text: Any) -> str:
    """The first sentence of a text, with its full stop."""
    first = " ".join(_SENTENCE_END.split(str(text).strip(), maxsplit=1)[0].split())
    return f"{first}." if re.search(r"[\w)\]\"'»”]$", first) else first


def readable(value: Any) -> str:
    """Any JSON value as text for people: no brackets, no quotes, nothing empty, title and name first.

    Few plain values stand in one line ("count 1; max 137"), more of them one a line; of a list each item has a line, or a row of
    a table where that is shorter. Of a log head, tail and errors are kept (features B10).
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
        listed = "\n".join(f"- {inline(item)}" for item in value)
        tabled = table([dict(_pairs(item)) for item in value if isinstance(item, dict)], inline) if _alike(value) else ""
        return tabled if tabled and len(tabled) < len(listed) else listed
    return digest(value) if isinstance(value, str) else "" if is_none(value) else _plain(value)


def inline(value: Any) -> str:
    """Any JSON value in one line, long texts clipped: for arguments of calls and items of lists."""
    if isinstance(value, dict):
        return "; ".join(f"{inline(key)} {inline(item)}" for key, item in _pairs(value))
    if isinstance(value, list):
        return ", ".join(map(inline, value))
    text = " ".join(_plain(value).split())
    return text if isinstance(value, Kept) or len(text) <= SHORT else text[:SHORT].rsplit(" ", 1)[0] + " …"


def _pairs(value: dict[str, Any]) -> list[tuple[str, Any]]:
    held = [(key, item) for key, item in value.items() if item not in (None, "", [], {})]
    return sorted(held, key=lambda pair: NAMING.index(pair[0]) if pair[0] in NAMING else len(NAMING))


def _alike(items: list[Any]) -> bool:
    """Whether they are objects of plain values."""
    return all(isinstance(item, dict) and not any(map(_nested, item.values())) for item in items)


def _nested(value: Any) -> bool:
    return isinstance(value, dict | list)


def _pair(key: str, value: Any) -> str:
    inner = readable(value)
    if "\n" not in inner:
        return f"{key}: {inner}"
    start = "\n  " if _nested(value) and not inner.endswith(" |") else " "
    return f"{key}:{start}" + inner.replace("\n", "\n  ")


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if isinstance(value, Missing) else json.dumps(value, ensure_ascii=False)
