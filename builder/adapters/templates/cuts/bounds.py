"""What of a huge body is rendered: no page holds more, and other messages must not wait for the rest."""

import json
from typing import Any

from builder.adapters.templates.cuts.shorten import trimmed
from builder.domain.phrases import Mark
from builder.domain.text import with_texts
from builder.remember.content import described, without_wrapper

CHARACTERS_PER_VALUE = 8
"""Fewest that a value takes on a page, with its key or its line."""
MORE = "…"
"""Key of the last entry of an object that was cut."""


def pruned(value: Any, characters: int, mark: Mark) -> Any:
    """JSON with no more values than `characters` could show. The last entry of a list or object counts the missing ones.

    mark: number of missing entries → the text of that entry.
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
    """JSON whose texts together have about `characters`: later ones are cut, each with a mark."""
    room = characters

    def cut(text: str) -> str:
        nonlocal room
        short = trimmed(text, max(room, 0), mark)
        room -= len(short)
        return short

    return with_texts(value, cut)


def bounded(value: Any, characters: int, marks: tuple[Mark, Mark]) -> Any:
    """JSON of which a page could hold all. marks: number of entries, and of characters, that are left out → the text instead."""
    return shortened(pruned(value, characters, marks[0]), characters, marks[1])


def bounded_body(text: str, characters: int, marks: tuple[Mark, Mark]) -> dict[str, Any]:
    """A stored body as hint templates take it: bounded, with a line for each image and file. marks: see `bounded`."""
    body: dict[str, Any] = json.loads(text)
    body |= {"output": without_wrapper(body["output"])} if "output" in body else {}
    if len(text) > characters:
        return dict(shortened(described(pruned(body, characters, marks[0])), characters, marks[1]))
    return dict(described(body))


def whole_body(text: str) -> dict[str, Any]:
    """A stored body with a line for each image and file."""
    body: dict[str, Any] = described(json.loads(text))
    return body
