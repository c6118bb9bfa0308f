"""Problems of templates that compile: errors, and notes about changing fields and overused emphasis."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import nodes

from builder.adapters.templates.examples import full
from builder.adapters.templates.faults import Fault, body_fields
from builder.adapters.templates.folder import SUFFIX, TemplateFailed, TemplateSet
from builder.adapters.templates.sandbox.environment import parsed
from builder.adapters.templates.sandbox.runtime import LimitExceeded
from builder.adapters.templates.trial import MAX_TEMPLATES, alone, example, faults, render_example
from builder.domain.lint_finding import LintFinding

MARKERS = re.compile(r"\b(?:CRITICAL|IMPORTANT|MUST|ALWAYS|NEVER|MANDATORY|REQUIRED|WARNING|ATTENTION)\b")
CAPITALS = re.compile(r"\b[A-Z]{2,}(?:'[A-Z]+)?(?:[ ,]+[A-Z]{2,}(?:'[A-Z]+)?){2,}\b")
"""Three words in a row; two are often a name."""
SHOUTS = re.compile(r"!{2,}")
BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")
MAX_MARKERS = 3
MAX_BOLD = 6
MAX_RUN_CHARS = 40
FIX = f"keep at most {MAX_MARKERS}: what is all loud is not heard"
REVERSED = frozenset({"revindex", "revindex0", "length"})
"""They change with each entry that is added."""
NUMBERS = frozenset({"index", "index0"})
"""They stay the same while entries are appended."""
ORDERING = frozenset({"reverse", "sort", "dictsort", "groupby", "unique"})
"""An added entry moves others."""
MOVING = re.compile(
    r"id|.*(?<!agent)_id|.*Id|uuid|hash|.*_at|.*At|now|today|time|timestamp|last_?updated|lastUpdated|version|.*_count|.*_seq"
)


def overused(text: str) -> str:
    """The problem of too much emphasis; "" = none."""
    runs = [match[0] for match in CAPITALS.finditer(text)]
    markers = MARKERS.findall(CAPITALS.sub(" ", text))
    shouts, bold = len(SHOUTS.findall(text)), len(BOLD.findall(text))
    if len(markers) + len(runs) + shouts <= MAX_MARKERS and bold <= MAX_BOLD:
        return ""
    problems = (
        f"{len(markers)} emphasis {'marker' if len(markers) == 1 else 'markers'} ({_counted(markers)})" if markers else "",
        f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} of capitals ({_counted(run[:MAX_RUN_CHARS] for run in runs)})"
        if runs
        else "",
        f"{shouts} times !!" if shouts else "",
        f"{bold} bold texts" if bold > MAX_BOLD else "",
    )
    return ", ".join(filter(None, problems))


def first_line(text: str) -> int:
    """Line of the first emphasis, from 1; 0 = none."""
    matches = (pattern.search(text) for pattern in (MARKERS, CAPITALS, SHOUTS, BOLD))
    starts = [match.start() for match in matches if match]
    return text.count("\n", 0, min(starts)) + 1 if starts else 0


def lint_templates(templates: TemplateSet) -> Iterator[LintFinding]:
    """Faults first, then notes, file by file."""
    broken, words = [], tuple(templates.phrases().entries.items())
    for finding in faults(templates):
        broken.append(finding.file)
        yield finding
    for kind, sources in templates.sources.items():
        for name, source in sources.items():
            file = f"{kind}/{name}{SUFFIX}"
            notes = [*(body_fields(name, source) if kind == "hints" else ()), *endless(source), *_emphasis(source)]
            yield from (each.of_file(file) for each in notes)
            if kind == "hints" and file not in broken and not any(endless(source)):
                yield from (each.of_file(file) for each in _too_many(name, source, words))


def moving(source: str) -> tuple[tuple[str, int], ...]:
    """Changing fields as written, e.g. body.created_at, each with its first line.

    `said` and `repeats` are constant outside of finds.
    """
    tree = parsed(source)
    own = {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
    first: dict[str, int] = {}
    for name, line in (*_fields(tree, own), *_numbers(tree)):
        first[name] = min(first.get(name, line), line)
    return tuple(sorted(first.items()))


def _counted(words: Iterable[str]) -> str:
    counts = Counter(words)
    return ", ".join(word if counts[word] == 1 else f"{word} {counts[word]} times" for word in sorted(counts))


@lru_cache(MAX_TEMPLATES)
def _too_many(name: str, source: str, words: tuple[tuple[str, str], ...]) -> tuple[Fault, ...]:
    return tuple(_exceeded(alone("hints", name, source, words), name, source))


def _exceeded(templates: TemplateSet, name: str, source: str) -> Iterator[Fault]:
    lines: dict[tuple[str, ...], int] = {}
    for line, path in open_lists(source):
        lines.setdefault(path, line)
    for path, line in lines.items():
        body = with_many(full(name)[0], path)
        try:
            render_example(templates, name, example(name, body), body)
        except TemplateFailed as error:
            if isinstance(error.__cause__, LimitExceeded):
                problem = f"with {MANY:,} entries of body.{'.'.join(path)} it exceeds its limits"
                yield Fault(line, problem, bounded(path), "note")


def _emphasis(source: str) -> Iterator[Fault]:
    texts = list(parsed(source).find_all(nodes.TemplateData))
    if problem := overused("\n".join(part.data for part in texts)):
        yield Fault(_line_of(source, [part.data for part in texts]), problem, FIX, "note")


def _line_of(source: str, texts: list[str]) -> int:
    loud = next((text for text in texts if first_line(text)), "")
    start = source.find(loud)
    return source.count("\n", 0, max(start, 0)) + first_line(loud)


def _fields(tree: nodes.Template, own: set[str]) -> Iterator[tuple[str, int]]:
    for node in tree.find_all((nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Call, nodes.Keyword, nodes.Filter)):
        match node:
            case nodes.Name(name=name, ctx="load") if name not in own and MOVING.fullmatch(name):
                yield name, node.lineno
            case nodes.Getattr(node=value, attr=name) if MOVING.fullmatch(name):
                yield _path(value, name), node.lineno
            case nodes.Getitem(node=value, arg=nodes.Const(value=str(name))) if MOVING.fullmatch(name):
                yield _path(value, name), node.lineno
            case nodes.Call(node=nodes.Getattr(node=value, attr="get"), args=[nodes.Const(value=str(name)), *_]) if (
                MOVING.fullmatch(name)
            ):
                yield _path(value, name), node.lineno
            case nodes.Keyword(key="attribute", value=nodes.Const(value=str(path))) if MOVING.fullmatch(path.split(".")[-1]):
                yield path, node.value.lineno


def _numbers(tree: nodes.Template) -> Iterator[tuple[str, int]]:
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
    steps = [name]
    while isinstance(value, nodes.Getattr):
        steps, value = [value.attr, *steps], value.node
    return ".".join([value.name, *steps] if isinstance(value, nodes.Name) else steps)


MANY = 1_000
"""Entries that a hint should be able to show."""
MAX_ENTRIES = 50
"""Bound that a remedy proposes."""


def endless(source: str) -> Iterator[Fault]:
    """Nested loops over the same list."""
    yield from _repeated(parsed(source), {})


def open_lists(source: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Line and path of each list that a loop reads whole."""
    loops = ((loop.lineno, _steps(loop.iter)) for loop in parsed(source).find_all(nodes.For))
    return tuple((line, path[1:]) for line, path in loops if path[:1] == ("body",) and path[1:])


def with_many(body: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The body with MANY copies of a list's first entry."""
    name, *rest = path
    value = body.get(name)
    if rest:
        return {**body, name: with_many(value if isinstance(value, dict) else {}, tuple(rest))}
    entry = value[0] if isinstance(value, list) and value else {"name": "first", "title": "first", "text": "first"}
    return {**body, name: [entry] * MANY}


def bounded(path: tuple[str, ...]) -> str:
    """Remedy for a list without a bound."""
    return f"write body.{'.'.join(path)}[:{MAX_ENTRIES}]"


def _repeated(node: nodes.Node, around: dict[tuple[str, ...], int]) -> Iterator[Fault]:
    for child in node.iter_child_nodes():
        path = _steps(child.iter) if isinstance(child, nodes.For) else ()
        if path and path in around:
            name = ".".join(path)
            problem = f"it goes through {name} for each entry of {name}, as the loop of line {around[path]} does"
            fix = f"bound one of them, e.g. {name}[:{MAX_ENTRIES}], or set before what you need of it"
            yield Fault(child.lineno, problem, fix, "note")
        yield from _repeated(child, around | {path: child.lineno} if path else around)


def _steps(value: nodes.Node) -> tuple[str, ...]:
    steps: list[str] = []
    while isinstance(value, nodes.Getattr):
        steps, value = [value.attr, *steps], value.node
    return (value.name, *steps) if isinstance(value, nodes.Name) else ()
