"""What of a huge body is rendered: no page holds more, and whoever else waits must not wait for the rest."""

from collections.abc import Callable
from typing import Any

from builder.rendering.shorten import trimmed

CHARACTERS_A_VALUE = 8
"""That a value takes on a page at least, with its key or its line."""


def pruned(value: Any, characters: int, note: str) -> Any:
    """JSON with no more values than so many characters could show. The last entry of a list or object says how many are missing.

    note: where to get them.
    """
    room = characters // CHARACTERS_A_VALUE

    def walk(inner: Any) -> Any:
        nonlocal room
        room -= 1
        if isinstance(inner, list):
            items: list[Any] = []
            for number, item in enumerate(inner):
                if room <= 0:
                    return [*items, _missing(len(inner) - number, note)]
                items.append(walk(item))
            return items
        if isinstance(inner, dict):
            fields: dict[str, Any] = {}
            for number, (key, item) in enumerate(inner.items()):
                if room <= 0:
                    return fields | {"…": _missing(len(inner) - number, note)}
                fields[key] = walk(item)
            return fields
        return inner

    return walk(value)


def shortened(value: Any, characters: int, note: str) -> Any:
    """JSON of which all texts together have about so many characters: later ones give way, each with a mark."""
    room = characters

    def cut(text: str) -> str:
        nonlocal room
        short = trimmed(text, max(room, 0), note)
        room -= len(short)
        return short

    return _mapped(value, cut)


def _missing(number: int, note: str) -> str:
    return f"[… {number:,} more left out{note} …]"


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return change(value) if isinstance(value, str) else value
