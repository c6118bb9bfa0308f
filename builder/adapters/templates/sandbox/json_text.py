"""JSON values as text of a page: lines, tables, one line."""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from builder.adapters.templates.sandbox.runtime import Missing, is_none, pairs_of
from builder.assemble.items.list_items import below
from builder.domain.json_values import JsonObject

ROWS = "{number} rows"
NO_WORDS: Mapping[str, str] = MappingProxyType({})
MAX_LINE_CHARS = 160
"""Longer arguments get lines of their own."""
WORDY_CHARS = 40
"""A plain list with longer items gets a line each."""
EMPTY_OBJECT, EMPTY_LIST = "{}", "[]"
MIN_ROWS = 3
MIN_FULL_SHARE = 0.75
"""Filled cells of a table; otherwise the objects are unlike."""
MAX_CELL_CHARS = 80
"""With a longer cell a list is easier to read."""
_NO_TEXT = re.compile(r"(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|true|false|null|\{\}|\[\]|)", re.IGNORECASE)
_MARGIN = "\"' \t\n"
_SHAPE = re.compile(r"\A\s*[\[{]|^[ \t]+\S|\n[ \t]*\n", re.MULTILINE)
"""Layout that Markdown loses."""
_MARKS = re.compile("`{3,}")


def readable(value: Any, words: Mapping[str, str] = NO_WORDS) -> str:
    """Any JSON value as plain text. words: phrases by name; `rows` is the caption of a table.

    An object has a line per key; a list a line per item, or a table where that is shorter; short values share a line. A text
    that reads like another type is quoted.
    """
    if isinstance(value, dict):
        return "\n".join(_pair(key, item, words) for key, item in pairs_of(value)) or EMPTY_OBJECT
    if isinstance(value, list):
        return _listed(value, words) or EMPTY_LIST
    return value if isinstance(value, str) else "" if is_none(value) else _plain(value)


def inline(value: Any) -> str:
    """JSON in one line, e.g. for arguments of calls."""
    if isinstance(value, dict):
        return "; ".join(f"{inline(key)}: {_cell(item)}" for key, item in pairs_of(value)) or EMPTY_OBJECT
    if isinstance(value, list):
        return ", ".join(map(_cell, value)) or EMPTY_LIST
    return " ".join(_plain(value).split())


def output(value: Any, words: Mapping[str, str] = NO_WORDS) -> str:
    """After a label: text, fenced if needed, or `readable`."""
    if not isinstance(value, str) or "\n" not in value.strip() or not _SHAPE.search(value):
        return below(readable(value, words))
    marks = "`" * max(map(len, ("``", *_MARKS.findall(value))), default=0) + "`"
    return f"\n\n{marks}\n{value.removesuffix(chr(10))}\n{marks}"


def arguments(value: Any, words: Mapping[str, str] = NO_WORDS) -> str:
    """One line if unambiguous, else a line per key. words: as in `readable`."""
    text = readable(value, words)
    is_plain = isinstance(value, dict) and not any(map(_is_long, value.values()))
    if not is_plain or len(text) > MAX_LINE_CHARS or any(set(_plain(item)) & {";", "\n"} for item in value.values()):
        return below(text)
    return inline(value)


def table(rows: list[JsonObject], caption: str) -> str:
    """Caption and markdown table; "" if too few or unlike. Cells are escaped lines. caption: with {number}."""
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    if len(rows) < MIN_ROWS or sum(map(len, rows)) < MIN_FULL_SHARE * len(rows) * len(columns):
        return ""
    cells = [[_escaped(_cell(row[column]) if column in row else "") for column in columns] for row in rows]
    if any(len(text) > MAX_CELL_CHARS for line in cells for text in line):
        return ""
    head = [[_escaped(inline(column)) for column in columns]]
    first, *others = (f"| {' | '.join(line)} |" for line in (*head, *cells))
    return "\n".join((caption.format(number=len(rows)), first, "|---" * len(columns) + "|", *others))


def _cell(value: Any) -> str:
    return inline(_quoted(value))


def _listed(items: list[Any], words: Mapping[str, str]) -> str:
    if all(map(_is_short, items)):
        return ", ".join(_plain(_quoted(item)) for item in items)
    lines = "\n".join("- " + _below(readable(_quoted(item), words)) for item in items)
    rows = (
        table([dict(pairs_of(item)) for item in items if isinstance(item, dict)], words.get("rows", ROWS))
        if _alike(items)
        else ""
    )
    return rows if rows and len(rows) < len(lines) else lines


def _is_short(item: Any) -> bool:
    """Whether it can stand between commas. White space at its ends is indentation, which commas would hide."""
    if _nested(item):
        return False
    text = _plain(item)
    return len(text) <= WORDY_CHARS and text == text.strip() and {",", "\n"}.isdisjoint(text)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _quoted(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) and _NO_TEXT.fullmatch(value.strip(_MARGIN)) else value


def _is_long(value: Any) -> bool:
    return _nested(value) or (isinstance(value, str) and "\n" in value)


def _alike(items: list[Any]) -> bool:
    return all(isinstance(item, dict) and not any(map(_is_long, item.values())) for item in items)


def _nested(value: Any) -> bool:
    return isinstance(value, dict | list)


def _pair(key: str, value: Any, words: Mapping[str, str]) -> str:
    name, inner = " ".join(key.split()), readable(_quoted(value), words) if not is_none(value) else "null"
    if "\n" not in inner:
        return f"{name}: {inner}"
    return f"{name}:\n  {_below(inner)}"


def _below(text: str) -> str:
    return re.sub(r"\n(?=[^\n])", "\n  ", text)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if isinstance(value, Missing) else json.dumps(value, ensure_ascii=False)
