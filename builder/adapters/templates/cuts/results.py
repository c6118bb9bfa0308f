"""What a tool answered, before its hint renders it: a result list cut to its first results, and one-line stubs."""

import json
from dataclasses import dataclass
from typing import Any

from builder.adapters.templates.cuts.shorten import clip
from builder.adapters.templates.sandbox.filters import WORDY, PreservedText, inline
from builder.assemble.items.forms import Line
from builder.assemble.items.items import ITEM
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.control_text import visible
from builder.domain.phrases import Phrases
from builder.domain.profile import Cut

KEYS = ("results", "items", "data", "hits", "documents", "matches", "records", "rows", "entries", "result", "response")
"""Under which an object has its list of results, the most telling first; it may be deeper ("hits": {"hits": […]})."""
MAX_DEPTH = 3
PREVIEW_CHARS = 40
"""Characters of a result that its stub shows."""
CUT, SHRUNK = "cut to its first results", "shrunk outside the conversation"
"""What of a result is missing, as its omission says it."""


@dataclass(frozen=True, slots=True)
class ResultText:
    """The output of a tool as it is rendered."""

    output: Any
    note: str = ""
    """What is missing and how to get it; "" = nothing is."""


def cut_results(output: Any, cut: Cut, breadcrumb: Breadcrumb, phrases: Phrases) -> ResultText:
    """The output with its result list cut.

    A result list is the output itself, or the list that an object has under one of KEYS. A result is an object, a list or a
    text; a list of plain short values (numbers, names) is one value, as long as all its results together may be.
    """
    value = parsed(output)
    path = _path(value, MAX_DEPTH)
    if path is None:
        return ResultText(value)
    entries = _at(value, path)
    part, clipped = _cut_plain(entries, cut) if _plain(entries) else _cut_list(entries, cut)
    note = (
        _note(len(part), len(entries), cut if clipped else None, breadcrumb, phrases)
        if clipped or len(part) < len(entries)
        else ""
    )
    return ResultText(_replaced(value, path, part), note)


def parsed(output: Any) -> Any:
    """The output; a text that is a JSON object or list becomes it, because many tools answer in text only."""
    if not isinstance(output, str) or output.lstrip()[:1] not in ("{", "["):
        return output
    try:
        value = json.loads(output)
    except (ValueError, RecursionError):
        return output
    return value if isinstance(value, dict | list) else output


def stub(breadcrumb: Breadcrumb, line: Line, phrases: Phrases) -> str:
    """An item of one line in place of a result: its tool, its size, and the id under which all of it can be had."""
    text = breadcrumb.text.removeprefix(breadcrumb.tool)[: 4 * PREVIEW_CHARS]
    return ITEM + phrases(
        line,
        tool=_inside(breadcrumb.tool or breadcrumb.speaker),
        preview=clip(_inside(text), PREVIEW_CHARS).removesuffix(" …"),
        bytes=len(breadcrumb.body.encode()),
        id=safe_id(breadcrumb),
    )


def safe_id(breadcrumb: Breadcrumb) -> str:
    """What `fetch` takes, for the inside of our brackets."""
    return visible(breadcrumb.id).replace("[", "\\[").replace("]", "\\]")


def _inside(text: str) -> str:
    """Text for the inside of our brackets: one line, and no bracket that would close them."""
    return " ".join(text.split()).replace("[", "(").replace("]", ")")


def _path(value: Any, deepest: int) -> tuple[str, ...] | None:
    """The way to the result list, by its shape: under one of KEYS, else the longest list of results; None when there is none."""
    if isinstance(value, list):
        return ()
    if not isinstance(value, dict) or not deepest:
        return None
    ways = {key: way for key in value if (way := _path(value[key], deepest - 1)) is not None}
    list_key = next((key for key in KEYS if key in ways), None)
    others = {key: len(_at(value[key], way)) for key, way in ways.items() if not _plain(_at(value[key], way))}
    key = list_key if list_key is not None else max(others, key=lambda name: others[name], default=None)
    return None if key is None else (key, *ways[key])


def _at(value: Any, path: tuple[str, ...]) -> list[Any]:
    for key in path:
        value = value[key]
    entries: list[Any] = value
    return entries


def _replaced(value: Any, path: tuple[str, ...], part: list[Any]) -> Any:
    return part if not path else value | {path[0]: _replaced(value[path[0]], path[1:], part)}


def _plain(entries: list[Any]) -> bool:
    return not any(isinstance(item, dict | list) or (isinstance(item, str) and len(item) > WORDY) for item in entries)


def _cut_plain(entries: list[Any], cut: Cut) -> tuple[list[Any], bool]:
    if cut.results is None or cut.characters is None:
        return entries, False
    part, room = [], cut.results * cut.characters
    for item in entries:
        room -= len(inline(item)) + 2
        if room < 0:
            break
        part.append(item)
    return part, False


def _cut_list(entries: list[Any], cut: Cut) -> tuple[list[Any], bool]:
    part = entries[: cut.results]
    cut_items = [_cut_item(item, cut.characters) for item in part]
    return cut_items, any(_letters(before) > _letters(after) for before, after in zip(part, cut_items, strict=True))


def _cut_item(item: Any, characters: int | None) -> Any:
    """The item with its longest texts clipped until all of them together have so many characters."""
    lengths = sorted(_lengths(item))
    if characters is None or sum(lengths) <= characters:
        return _clipped(item, None)
    room, most = characters, 0
    for number, length in enumerate(lengths):
        most = max(room // (len(lengths) - number), 1)
        if length > most:
            break
        room -= length
    clipped = _clipped(item, most)
    return clipped if _letters(clipped) <= characters else PreservedText(clip(inline(clipped), characters))


def _lengths(item: Any) -> list[int]:
    """Of all its plain values."""
    if isinstance(item, dict):
        return [length for value in item.values() for length in _lengths(value)]
    if isinstance(item, list):
        return [length for value in item for length in _lengths(value)]
    return [] if item is None else [len(item) if isinstance(item, str) else len(json.dumps(item))]


def _letters(item: Any) -> int:
    return sum(_lengths(item))


def _clipped(item: Any, most: int | None) -> Any:
    if isinstance(item, dict):
        return {key: _clipped(value, most) for key, value in item.items()}
    if isinstance(item, list):
        return [_clipped(value, most) for value in item]
    if not isinstance(item, str):
        return item
    return PreservedText(item if most is None else clip(" ".join(item.split()), most))


def _note(part: int, number: int, cut: Cut | None, breadcrumb: Breadcrumb, phrases: Phrases) -> str:
    """cut: of each result, if any was."""
    values = {"shown": part, "number": number, "id": safe_id(breadcrumb), "bytes": len(breadcrumb.body.encode())}
    return phrases("results_cut", characters=cut.characters, **values) if cut else phrases("results_shown", **values)
