"""Clocks, ids and counters that a hint shows: in a section that should stay the same they change it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jinja2 import nodes

from builder.adapters.templates.sandbox.environment import parsed

_MOVING = re.compile(
    r"id|.*(?<!agent)_id|.*Id|uuid|hash|.*_at|.*At|now|today|time|timestamp|last_?updated|lastUpdated|version|.*_count|.*_seq"
)
"""Names of clocks, ids and counters."""
REVERSED = frozenset({"revindex", "revindex0", "length"})
"""Of a loop: they change with each entry that is added."""
NUMBERS = frozenset({"index", "index0"})
"""Of a loop: they stay as long as entries are added behind the others."""
ORDERING = frozenset({"reverse", "sort", "dictsort", "groupby", "unique"})
"""Filters behind which an entry that is added moves others."""


class Movement(NamedTuple):
    """What a hint shows that changes by itself."""

    name: str
    """As the template writes it, e.g. body.created_at."""
    line: int


def moving(source: str) -> tuple[Movement, ...]:
    """Each at its first line, by name. `said` and `repeats` are none: outside of finds they are always 1."""
    tree = parsed(source)
    own = {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
    first: dict[str, int] = {}
    for name, line in (*_fields(tree, own), *_numbers(tree)):
        first[name] = min(first.get(name, line), line)
    return tuple(Movement(name, line) for name, line in sorted(first.items()))


def _fields(tree: nodes.Template, own: set[str]) -> Iterator[tuple[str, int]]:
    """Values and fields by their names. own: names that the template sets."""
    for node in tree.find_all((nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Call, nodes.Keyword, nodes.Filter)):
        match node:
            case nodes.Name(name=name, ctx="load") if name not in own and _MOVING.fullmatch(name):
                yield name, node.lineno
            case nodes.Getattr(node=value, attr=name) if _MOVING.fullmatch(name):
                yield _path(value, name), node.lineno
            case nodes.Getitem(node=value, arg=nodes.Const(value=str(name))) if _MOVING.fullmatch(name):
                yield _path(value, name), node.lineno
            case nodes.Call(node=nodes.Getattr(node=value, attr="get"), args=[nodes.Const(value=str(name)), *_]) if (
                _MOVING.fullmatch(name)
            ):
                yield _path(value, name), node.lineno
            case nodes.Keyword(key="attribute", value=nodes.Const(value=str(path))) if _MOVING.fullmatch(path.split(".")[-1]):
                yield path, node.value.lineno


def _numbers(tree: nodes.Template) -> Iterator[tuple[str, int]]:
    """Numbers of loops that change when an entry is added."""
    for loop in tree.find_all(nodes.For):
        names = REVERSED | (NUMBERS if _is_reordered(loop.iter) else frozenset())
        for node in loop.find_all(nodes.Getattr):
            if isinstance(node.node, nodes.Name) and node.node.name == "loop" and node.attr in names:
                yield f"loop.{node.attr}", node.lineno


def _is_reordered(value: nodes.Node) -> bool:
    ordered = value.name in ORDERING if isinstance(value, nodes.Filter) else False
    backwards = isinstance(value, nodes.Getitem) and isinstance(value.arg, nodes.Slice) and value.arg.step is not None
    return ordered or backwards or any(each.name in ORDERING for each in value.find_all(nodes.Filter))


def _path(value: nodes.Node, name: str) -> str:
    """The field as it is written, as far as it begins with a name."""
    steps = [name]
    while isinstance(value, nodes.Getattr):
        steps, value = [value.attr, *steps], value.node
    return ".".join([value.name, *steps] if isinstance(value, nodes.Name) else steps)
