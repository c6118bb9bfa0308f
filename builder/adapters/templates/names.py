"""Faults that a template's text shows, and why one failed, without words of people."""

import re
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from jinja2 import Template, TemplateError, meta, nodes

from builder.adapters.templates.sandbox.environment import parsed
from builder.adapters.templates.sandbox.grammar import TAGS, NotInLanguage
from builder.adapters.templates.values import VALUES
from builder.domain.lint_finding import LintFinding, Severity, advice, nearest
from builder.domain.reports import TemplateKind
from builder.remember.decode import BODIES

MAX_REASON_CHARS = 200
COMPILED = "<template>"
"""File name of Jinja's code."""

_UNCLOSED = re.compile(r"Unexpected end of template.*The innermost block that needs to be closed is '(\w+)'")
_UNKNOWN_TAG = re.compile(r"Encountered unknown tag '(\w+)'")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_TYPES = frozenset({"str", "int", "float", "bool", "list", "dict", "tuple", "NoneType", "Missing", "Fields", "Items", "Words"})


def compile_problem(error: Exception) -> tuple[str, str]:
    """Problem and remedy of a source that does not compile."""
    if isinstance(error, NotInLanguage):
        return error.problem, error.fix
    if isinstance(error, RecursionError | MemoryError):
        return "it is nested too deeply", "set parts of it by {% set %}"
    message = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, ValueError) and not isinstance(error, TemplateError):  # Python's limit for numbers in digits
        return "a number of too many digits", "use a smaller one"
    if message == "unexpected '}'":
        return "a brace is alone", "write {{ before a value and }} after it"
    return _of_statements(message) or (message, "mend the template")


def _of_statements(message: str) -> tuple[str, str] | None:
    if opening := _UNCLOSED.search(message):
        return f"a block is not closed: {{% {opening[1]} %}}", f"write {{% end{opening[1]} %}} after it"
    if unknown := _UNKNOWN_TAG.search(message):
        return f"{{% {unknown[1]} %}} is no statement of templates", TAGS.get(unknown[1], "take it out, or mend its name")
    return None


def reason_of(error: Exception, template: Template, source: str) -> str:
    """Line and message, without quoted words of others."""
    message = str(error) if isinstance(error, TemplateError | TypeError) else ""
    text = " ".join(_QUOTED.sub(lambda quoted: _own(quoted.group(), source), message).split())
    kind = "" if isinstance(error, TemplateError) else f"{type(error).__name__}{': ' if text else ''}"
    line = _line(error.__traceback__, template)
    return f"{f'line {line}: ' if line else ''}{kind}{text}"[:MAX_REASON_CHARS]


def _own(quoted: str, source: str) -> str:
    word = quoted[1:-1]
    return quoted if word in source or word.removesuffix(" object") in _TYPES else f"{quoted[0]}…{quoted[0]}"


def _line(traceback: TracebackType | None, template: Template) -> int:
    line = 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == COMPILED:
            line = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


SECTIONS = "sections"
VALUE_NAMES: Mapping[TemplateKind, frozenset[str]] = {"hints": VALUES, "pages": frozenset({SECTIONS})}
SECTION_FIELDS = frozenset({"name", "title", "note", "groups"})
GROUP_FIELDS = frozenset({"date", "fragments"})
OBJECT_METHODS = frozenset({"get", "items", "keys", "values", "copy"})
MANY = 1_000
"""Entries that a hint should be able to show."""
MAX_ENTRIES = 50
"""Bound that a remedy proposes."""


class Fault(NamedTuple):
    """One problem of a template."""

    line: int
    """From 1; 0 = the whole template."""
    problem: str
    fix: str
    severity: Severity = "error"

    def of_file(self, file: str) -> LintFinding:
        """As a finding."""
        return LintFinding(file=file, line=self.line, place="", problem=self.problem, fix=self.fix, severity=self.severity)


def static_faults(kind: TemplateKind, source: str, phrases: Mapping[str, str]) -> Iterator[Fault]:
    """Unknown names, in all branches, and empty files. phrases: by name."""
    tree = parsed(source)
    for unknown in sorted(meta.find_undeclared_variables(tree) - VALUE_NAMES[kind]):
        line = min((node.lineno for node in tree.find_all(nodes.Name) if node.name == unknown), default=0)
        # records and their own hints call the body "context"
        fix = "write body" if (kind, unknown) == ("hints", "context") else advice(unknown, VALUE_NAMES[kind])
        yield Fault(line, f"{unknown!r} is no value of a template", fix)
    for line, name in fields_of(tree, "words") if phrases else ():
        if name not in phrases:
            yield Fault(line, f"there is no phrase {name!r}", advice(name, phrases))
    if kind == "pages":
        yield from _page_fields(tree)
    parts = (part for output in tree.find_all(nodes.Output) for part in output.nodes)
    if not any(not isinstance(part, nodes.TemplateData) or part.data.strip() for part in parts):
        yield Fault(0, "there is nothing in it", "write what is to be shown, or take the file away")


def body_fields(schema: str, source: str) -> Iterator[Fault]:
    """Fields that a known schema lacks: notes, because senders may add fields."""
    if schema not in BODIES:
        return
    definition: dict[str, Any] = BODIES[schema].model_json_schema(by_alias=True)
    fields = sorted(definition["properties"])
    for line, name in fields_of(parsed(source), "body"):
        if name in fields:
            continue
        near = nearest(name, fields)
        problem = f"body.{name} is no field of schemas/{schema}.json"
        if near:
            yield Fault(line, f"{problem}, so it is empty", f"write body.{near}")
        else:
            fix = f"it is empty unless your senders add it; fields are {', '.join(fields)}"
            yield Fault(line, problem, fix, "note")


def fields_of(tree: nodes.Template, value: str) -> list[tuple[int, str]]:
    """Line and name of each field, at its first line."""
    lines: dict[str, int] = {}
    for node in tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Call)):
        name = _field(node, value)
        if name:
            lines[name] = min(lines.get(name, node.lineno), node.lineno)
    return [(line, name) for name, line in lines.items()]


def endless(source: str) -> Iterator[Fault]:
    """Nested loops over the same list."""
    yield from _repeated(parsed(source), {})


def open_lists(source: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Line and path of each list that a loop reads whole."""
    loops = ((loop.lineno, _path(loop.iter)) for loop in parsed(source).find_all(nodes.For))
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


def _field(node: nodes.Node, value: str) -> str:
    match node:
        case nodes.Getattr(node=nodes.Name(name=name), attr=attr) if name == value and attr not in OBJECT_METHODS:
            return str(attr)
        case nodes.Getitem(node=nodes.Name(name=name), arg=nodes.Const(value=str(key))) if name == value:
            return key
        case nodes.Call(node=nodes.Getattr(node=nodes.Name(name=name), attr="get"), args=[nodes.Const(value=str(key)), *_]) if (
            name == value
        ):
            return key
    return ""


def _page_fields(tree: nodes.Template) -> Iterator[Fault]:
    fields: dict[str, frozenset[str]] = {}
    for loop in tree.find_all(nodes.For):
        match loop:
            case nodes.For(target=nodes.Name(name=name), iter=nodes.Name(name="sections")):
                fields[name] = SECTION_FIELDS
            case nodes.For(target=nodes.Name(name=name), iter=nodes.Getattr(attr="groups")):
                fields[name] = GROUP_FIELDS
    for value, names in fields.items():
        for line, name in fields_of(tree, value):
            if name not in names:
                near = nearest(name, names)
                every = ", ".join(f"{value}.{each}" for each in sorted(names))
                fix = f"write {value}.{near}" if near else f"use one of {every}"
                yield Fault(line, f"{value}.{name} does not exist", fix)


def _repeated(node: nodes.Node, around: dict[tuple[str, ...], int]) -> Iterator[Fault]:
    for child in node.iter_child_nodes():
        path = _path(child.iter) if isinstance(child, nodes.For) else ()
        if path and path in around:
            name = ".".join(path)
            problem = f"it goes through {name} for each entry of {name}, as the loop of line {around[path]} does"
            fix = f"bound one of them, e.g. {name}[:{MAX_ENTRIES}], or set before what you need of it"
            yield Fault(child.lineno, problem, fix, "note")
        yield from _repeated(child, around | {path: child.lineno} if path else around)


def _path(value: nodes.Node) -> tuple[str, ...]:
    steps: list[str] = []
    while isinstance(value, nodes.Getattr):
        steps, value = [value.attr, *steps], value.node
    return (value.name, *steps) if isinstance(value, nodes.Name) else ()
