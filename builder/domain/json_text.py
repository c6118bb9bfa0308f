"""The texts of a JSON value, wherever they stand in it."""

import json
from collections.abc import Callable, Iterator
from typing import Any


def texts(value: Any) -> Iterator[str]:
    """Every text in order; keys of objects are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def depth(value: Any) -> int:
    """How deep lists and objects are nested in each other."""
    levels, level = 0, [value]
    while level := [outer for outer in level if isinstance(outer, dict | list | tuple)]:
        levels += 1
        level = [item for outer in level for item in (outer.values() if isinstance(outer, dict) else outer)]
    return levels


def with_texts(value: Any, change: Callable[[str], str], key: Callable[[str], str] = str) -> Any:
    """The value with each of its texts changed, and with each key of its objects changed by `key`."""
    if isinstance(value, dict):
        return {key(name): with_texts(item, change, key) for name, item in value.items()}
    if isinstance(value, list):
        return [with_texts(item, change, key) for item in value]
    return change(value) if isinstance(value, str) else value


def parsed(text: Any) -> Any:
    """The value; a text that is a JSON object or list becomes it, because many tools answer in text only."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text
