"""A body before its hint renders it: bounded, result lists cut; and one-line stubs."""

import json
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from builder.adapters.templates.cuts.passages import clip
from builder.adapters.templates.cuts.shorten import trimmed
from builder.adapters.templates.sandbox.json_text import WORDY_CHARS, inline
from builder.assemble.items.forms import Line
from builder.assemble.items.list_items import ITEM
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.control_text import visible
from builder.domain.json_values import JsonObject, parsed, with_texts
from builder.domain.phrases import Mark, Phrases
from builder.domain.tool_output import Cut
from builder.remember.content import structured
from builder.wire.words import brief, described

CHARACTERS_PER_VALUE = 8
RETURNED = frozenset({"output", "error", "error_message"})
"""Fields of what tools return: long encoded runs are shortened there, never in what people and models write."""
MORE = "…"
"""Key of a cut object's last entry."""


def pruned(value: Any, characters: int, mark: Mark) -> Any:
    """JSON with at most the values that `characters` can show; the last entry counts the missing ones.

    mark: their number → its text.
    """
    room = characters // CHARACTERS_PER_VALUE

    def walk(inner: Any) -> Any:
        nonlocal room
        room -= 1
        if not isinstance(inner, list | dict):
            return inner
        entries: dict[Any, Any] = {}
        for number, (key, item) in enumerate(inner.items() if isinstance(inner, dict) else enumerate(inner)):
            if room <= 0:
                entries[MORE] = mark(len(inner) - number)
                break
            entries[key] = walk(item)
        return entries if isinstance(inner, dict) else list(entries.values())

    return walk(value)


def shortened(value: Any, characters: int, mark: Mark) -> Any:
    """Texts together have about `characters`; later ones are cut, each with a mark."""
    room = characters

    def cut(text: str) -> str:
        nonlocal room
        short = trimmed(text, max(room, 0), mark)
        room -= len(short)
        return short

    return with_texts(value, cut)


def bounded(value: Any, characters: int, marks: tuple[Mark, Mark]) -> Any:
    """marks: number of missing entries, of missing characters → text."""
    return shortened(pruned(value, characters, marks[0]), characters, marks[1])


def bounded_body(text: str, characters: int, marks: tuple[Mark, Mark]) -> JsonObject:
    """A stored body: bounded, a line per image and file. marks: as in `bounded`."""
    body: JsonObject = json.loads(text)
    body |= {"output": structured(body["output"])} if "output" in body else {}
    if len(text) > characters:
        return dict(shortened(_readable(pruned(body, characters, marks[0])), characters, marks[1]))
    return _readable(body)


def whole_body(text: str) -> JsonObject:
    """A stored body with a line per image and file."""
    return _readable(json.loads(text))


def _readable(body: JsonObject) -> JsonObject:
    return {name: (brief if name in RETURNED else described)(value) for name, value in body.items()}


KEYS = ("results", "items", "data", "hits", "documents", "matches", "records", "rows", "entries", "result", "response")
"""Fields with a list of results, at any depth."""
MAX_DEPTH = 3
PREVIEW_CHARS = 40
FIRST_RESULTS, SHRUNK = "cut to its first results", "shrunk outside the conversation"
"""Reasons of omissions."""


@dataclass(frozen=True, slots=True)
class CutOutput:
    """An output as it may be rendered."""

    output: Any
    note: str = ""
    """Empty = nothing is missing."""


def cut_results(output: Any, cut: Cut, breadcrumb: Breadcrumb, phrases: Phrases) -> CutOutput:
    """The output with its result list cut; unchanged where no limit applies.

    The list is the output itself or a field of KEYS. A result is an object, a list or a text; a list of short plain values is
    one value.
    """
    value = parsed(output) if cut.results is not None or cut.characters is not None else None
    path = _path(value, MAX_DEPTH)
    if path is None:
        return CutOutput(output)
    results = _at(value, path)
    first, is_clipped = _first_plain(results, cut) if _is_plain(results) else _first_results(results, cut)
    if not is_clipped and len(first) == len(results):
        return CutOutput(output)
    counts = {"number": len(results), "id": safe_id(breadcrumb), "bytes": len(breadcrumb.body.encode())}
    clip_note = {"characters": cut.characters} if is_clipped else {}
    note = phrases("results_cut" if is_clipped else "results_shown", shown=len(first), **clip_note, **counts)
    return CutOutput(_replaced(value, path, first), note)


def stub(breadcrumb: Breadcrumb, line: Line, phrases: Phrases) -> str:
    """Instead of a result: tool, size, and the id for `fetch`."""
    text = breadcrumb.text.removeprefix(breadcrumb.tool)[: 4 * PREVIEW_CHARS]
    return ITEM + phrases(
        line,
        tool=_inside(breadcrumb.tool or breadcrumb.speaker),
        preview=clip(_inside(text), PREVIEW_CHARS).removesuffix(" …"),
        bytes=len(breadcrumb.body.encode()),
        id=safe_id(breadcrumb),
    )


def safe_id(breadcrumb: Breadcrumb) -> str:
    """The id for `fetch`, escaped for our brackets."""
    return visible(breadcrumb.id).replace("[", "\\[").replace("]", "\\]")


def _inside(text: str) -> str:
    return " ".join(text.split()).replace("[", "(").replace("]", ")")


def _path(value: Any, levels: int) -> tuple[str, ...] | None:
    if isinstance(value, list):
        return ()
    if not isinstance(value, dict) or not levels:
        return None
    ways = {key: way for key in value if (way := _path(value[key], levels - 1)) is not None}
    usual = next((key for key in KEYS if key in ways), None)
    others = {key: len(_at(value[key], way)) for key, way in ways.items() if not _is_plain(_at(value[key], way))}
    key = usual if usual is not None else max(others, key=lambda name: others[name], default=None)
    return None if key is None else (key, *ways[key])


def _at(value: Any, path: tuple[str, ...]) -> list[Any]:
    for key in path:
        value = value[key]
    results: list[Any] = value
    return results


def _replaced(value: Any, path: tuple[str, ...], results: list[Any]) -> Any:
    return results if not path else value | {path[0]: _replaced(value[path[0]], path[1:], results)}


def _is_plain(results: list[Any]) -> bool:
    return not any(isinstance(item, dict | list) or (isinstance(item, str) and len(item) > WORDY_CHARS) for item in results)


def _first_plain(values: list[Any], cut: Cut) -> tuple[list[Any], bool]:
    if cut.results is None or cut.characters is None:
        return values, False
    ends = accumulate(len(inline(item)) + 2 for item in values)
    return [item for item, end in zip(values, ends, strict=True) if end <= cut.results * cut.characters], False


def _first_results(results: list[Any], cut: Cut) -> tuple[list[Any], bool]:
    first = results[: cut.results]
    clipped = [_cut_item(item, cut.characters) for item in first]
    return clipped, any(_letters(before) > _letters(after) for before, after in zip(first, clipped, strict=True))


def _cut_item(item: Any, characters: int | None) -> Any:
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
    return clipped if _letters(clipped) <= characters else FinalText(clip(inline(clipped), characters))


def _lengths(item: Any) -> list[int]:
    if isinstance(item, dict):
        return [length for value in item.values() for length in _lengths(value)]
    if isinstance(item, list):
        return [length for value in item for length in _lengths(value)]
    return [] if item is None else [len(item) if isinstance(item, str) else len(json.dumps(item))]


def _letters(item: Any) -> int:
    return sum(_lengths(item))


def _clipped(item: Any, most: int | None) -> Any:
    return with_texts(item, lambda text: FinalText(text if most is None else clip(" ".join(text.split()), most)))


class FinalText(str):
    """Cut by the rule of its profile."""

    __slots__ = ()
