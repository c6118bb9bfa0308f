"""Faults that a template's text shows: names that nothing has, and files without text."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from jinja2 import meta, nodes

from builder.adapters.templates.failures import TemplateKind
from builder.adapters.templates.sandbox.environment import parsed
from builder.adapters.templates.values import VALUES
from builder.domain.json_values import JsonObject
from builder.domain.lint_finding import LintFinding, Severity, advice, nearest
from builder.remember.decode import BODIES

SECTIONS = "sections"
VALUE_NAMES: Mapping[TemplateKind, frozenset[str]] = {"hints": VALUES, "pages": frozenset({SECTIONS})}
SECTION_FIELDS = frozenset({"name", "title", "note", "groups"})
GROUP_FIELDS = frozenset({"date", "fragments"})
OBJECT_METHODS = frozenset({"get", "items", "keys", "values", "copy"})


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
    definition: JsonObject = BODIES[schema].model_json_schema(by_alias=True)
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
