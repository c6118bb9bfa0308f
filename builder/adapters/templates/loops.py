"""Loops and macros that may run without end: told when a template is read, before a message meets the limits."""

from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import nodes

from builder.adapters.templates.names import Fault
from builder.adapters.templates.sandbox.environment import parsed

MANY = 1_000
"""Entries of a list that a hint should be able to show."""
MAX_ENTRIES = 50
"""Entries that a bound in an advice has."""


def endless(source: str) -> Iterator[Fault]:
    """Loops over a list within a loop over the same one, and what calls itself."""
    tree = parsed(source)
    yield from _repeated(tree, {})
    calls = {
        macro.name: {call.node.name for call in macro.find_all(nodes.Call) if isinstance(call.node, nodes.Name)}
        for macro in tree.find_all(nodes.Macro)
    }
    for macro in tree.find_all(nodes.Macro):
        if _reaches(macro.name, calls):
            fix = "call it with a number that falls, and test it: {% if depth %}"
            if not _tests_an_argument(macro):
                yield Fault(macro.lineno, f"the macro {macro.name} calls itself without an end", fix, "note")
    for loop in tree.find_all(nodes.For):
        if loop.recursive and not any(_is_depth(node) for node in loop.find_all(nodes.Getattr)):
            problem = "a recursive loop goes as deep as what was sent, and fails where that is too deep"
            yield Fault(loop.lineno, problem, "test its depth: {% if loop.depth < 5 %}", "note")


def open_lists(source: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Line and path of each list of the body that a loop goes through whole."""
    loops = ((loop.lineno, _path(loop.iter)) for loop in parsed(source).find_all(nodes.For))
    return tuple((line, path[1:]) for line, path in loops if path[:1] == ("body",) and path[1:])


def with_many(body: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The body with MANY entries at this path, made of the first one that it has."""
    name, *rest = path
    value = body.get(name)
    if rest:
        return {**body, name: with_many(value if isinstance(value, dict) else {}, tuple(rest))}
    entry = value[0] if isinstance(value, list) and value else {"name": "first", "title": "first", "text": "first"}
    return {**body, name: [entry] * MANY}


def bounded(path: tuple[str, ...]) -> str:
    """What to write in place of a list without a bound."""
    return f"write body.{'.'.join(path)}[:{MAX_ENTRIES}]"


def _repeated(node: nodes.Node, around: dict[tuple[str, ...], int]) -> Iterator[Fault]:
    """around: paths of the loops around this part, with their lines."""
    for child in node.iter_child_nodes():
        path = _path(child.iter) if isinstance(child, nodes.For) else ()
        if path and path in around:
            name = ".".join(path)
            problem = f"it goes through {name} for each entry of {name}, as the loop of line {around[path]} does"
            fix = f"bound one of them, e.g. {name}[:{MAX_ENTRIES}], or set before what you need of it"
            yield Fault(child.lineno, problem, fix, "note")
        yield from _repeated(child, around | {path: child.lineno} if path else around)


def _path(value: nodes.Node) -> tuple[str, ...]:
    """Name and fields of a value that is taken whole; nothing for any other."""
    steps: list[str] = []
    while isinstance(value, nodes.Getattr):
        steps, value = [value.attr, *steps], value.node
    return (value.name, *steps) if isinstance(value, nodes.Name) else ()


def _reaches(name: str, calls: Mapping[str, set[str]]) -> bool:
    """Whether a macro comes back to itself."""
    reached: set[str] = set()
    waiting = set(calls[name])
    while waiting:
        each = waiting.pop()
        waiting |= calls.get(each, set()) - reached
        reached.add(each)
    return name in reached


def _tests_an_argument(macro: nodes.Macro) -> bool:
    names = {argument.name for argument in macro.args}
    tests = [*(node.test for node in macro.find_all(nodes.If)), *(node.test for node in macro.find_all(nodes.CondExpr))]
    sides = [side for test in tests for side in (test, *test.find_all(nodes.Name))]
    return any(isinstance(side, nodes.Name) and side.name in names for side in sides)


def _is_depth(node: nodes.Getattr) -> bool:
    return isinstance(node.node, nodes.Name) and node.node.name == "loop" and node.attr in {"depth", "depth0"}
