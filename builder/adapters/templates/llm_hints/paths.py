"""Dotted paths into a JSON value: `a.b`, `tools.*.name`, `items.0`; lists are walked through by names too.

All functions are charged to the meter of the rendering that they are part of.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from builder.adapters.templates.sandbox.meter import step

Path = tuple[str, ...]

ANY = "*"
MAX_PATH_CHARS = 500
_INDEX = re.compile(r"\[(\d+|\*)\]")
_STEPS = re.compile(r"[^.\s]+(?:\.[^.\s]+)*")
_NOTHING = object()


def parse_path(text: str) -> Path:
    """`a.b[0].*` → its steps. Raises `ValueError` with what to do."""
    dotted = _INDEX.sub(r".\1", text.strip())
    if len(text) > MAX_PATH_CHARS or not _STEPS.fullmatch(dotted):
        raise ValueError(f"{text[:40]!r} is no path; write names with dots between them, such as tools.*.name")
    return tuple(dotted.split("."))


def included(value: Any, paths: Iterable[Path]) -> Any:
    """What these paths lead to, in the places where it stands; objects and lists without any of it are left out."""
    part = _included(value, frozenset(paths))
    return {} if part is _NOTHING else part


def excluded(value: Any, paths: Iterable[Path]) -> Any:
    """The value without what these paths lead to."""
    return _excluded(value, frozenset(paths))


def values_at(value: Any, path: Path) -> Iterator[Any]:
    """Everything that the path leads to, in order."""
    if not path:
        yield value
        return
    for child, rest in _children(value, frozenset((path,))):
        for remainder in rest:
            yield from values_at(child[1], remainder)


def _included(value: Any, paths: frozenset[Path]) -> Any:
    if () in paths:
        return value
    parts = [(name, part) for (name, child), rest in _children(value, paths) if (part := _included(child, rest)) is not _NOTHING]
    if not parts:
        return _NOTHING
    return dict(parts) if isinstance(value, dict) else [part for _, part in parts]


def _excluded(value: Any, paths: frozenset[Path]) -> Any:
    changed = {name: (child, rest) for (name, child), rest in _children(value, paths)}
    if not changed:
        return value
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    rest_of_value = [
        (name, _excluded(*changed[name]) if name in changed else child)
        for name, child in pairs
        if name not in changed or () not in changed[name][1]
    ]
    return dict(rest_of_value) if isinstance(value, dict) else [child for _, child in rest_of_value]


def _children(value: Any, paths: frozenset[Path]) -> Iterator[tuple[tuple[Any, Any], frozenset[Path]]]:
    """Name or index and value of each child that a path leads to, with what is left of the paths there."""
    step(len(value) * len(paths) if isinstance(value, dict | list) else 0)
    if isinstance(value, dict):
        for name, child in value.items():
            if rest := _rest(paths, str(name)):
                yield (name, child), rest
    elif isinstance(value, list):
        through = frozenset(path for path in paths if path and path[0] != ANY and not path[0].isdecimal())
        for number, child in enumerate(value):
            if rest := through | _rest(paths, str(number)):
                yield (number, child), rest


def _rest(paths: frozenset[Path], name: str) -> frozenset[Path]:
    return frozenset(path[1:] for path in paths if path and path[0] in (ANY, name))
