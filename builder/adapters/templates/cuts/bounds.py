"""The part of a huge body that is rendered: no page holds more, and rendering the rest would delay other builds."""

from collections.abc import Callable
from typing import Any

from builder.adapters.templates.cuts.shorten import trimmed
from builder.domain.phrases import Mark

CHARACTERS_A_VALUE = 8
"""That a value takes on a page at least, with its key or its line."""


def pruned(value: Any, characters: int, mark: Mark) -> Any:
    """JSON with no more values than so many characters could show. The last entry of a list or object says how many are missing.

    mark: entries that are missing → what says so.
    """
    room = characters // CHARACTERS_A_VALUE

    def walk(inner: Any) -> Any:
        nonlocal room
        room -= 1
        if isinstance(inner, list):
            items: list[Any] = []
            for number, item in enumerate(inner):
                if room <= 0:
                    return [*items, mark(len(inner) - number)]
                items.append(walk(item))
            return items
        if isinstance(inner, dict):
            fields: dict[str, Any] = {}
            for number, (key, item) in enumerate(inner.items()):
                if room <= 0:
                    return fields | {"…": mark(len(inner) - number)}
                fields[key] = walk(item)
            return fields
        return inner

    return walk(value)


def shortened(value: Any, characters: int, mark: Mark) -> Any:
    """JSON of which all texts together have about so many characters: later ones give way, each with a mark."""
    room = characters

    def cut(text: str) -> str:
        nonlocal room
        short = trimmed(text, max(room, 0), mark)
        room -= len(short)
        return short

    return _mapped(value, cut)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return change(value) if isinstance(value, str) else value
