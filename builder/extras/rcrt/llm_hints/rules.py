"""The rules of `transform`, each of which makes one value from a body, and their dotted paths. All are charged to the meter."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from jinja2 import Template, TemplateError, meta

from builder.adapters.templates.sandbox.environment import compiled, parsed
from builder.adapters.templates.sandbox.json_text import inline
from builder.adapters.templates.sandbox.runtime import charge_for, marked, step
from builder.adapters.templates.values import VALUES
from builder.assemble.items.list_items import quote
from builder.domain.json_values import depth
from builder.domain.lint_finding import advice
from builder.extras.rcrt.llm_hints.queries import Extraction

Path = tuple[str, ...]

ANY = "*"
MAX_PATH_CHARS = 500
MAX_TEMPLATE_CHARS = 16_384
MAX_FORMAT_CHARS = 16_384
CONTEXT = "context"
"""RCRT's name of the body."""
_INDEX = re.compile(r"\[(\d+|\*)\]")
_STEPS = re.compile(r"[^.\s]+(?:\.[^.\s]+)*")
_NOTHING = object()
_FIELD = re.compile(r"\{([^{}\n]+)\}")
_HANDLEBARS = re.compile(r"\{\{~?(?:[#/^>!&{]|\s*else\b|\s*this\b)|\{\{[^}]*@\w|\.\./|\.\[")


def parse_path(text: str) -> Path:
    """`a.b[0].*` → its steps. Raises `ValueError` with what to do."""
    dotted = _INDEX.sub(r".\1", text.strip())
    if len(text) > MAX_PATH_CHARS or not _STEPS.fullmatch(dotted):
        raise ValueError(f"{text[:40]!r} is no path; write names with dots between them, such as tools.*.name")
    return tuple(dotted.split("."))


def included(value: Any, paths: Iterable[Path]) -> Any:
    """Selected parts, in place; empty objects and lists are left out."""
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


class Written(str):
    """With marked values of a body in it."""

    __slots__ = ()


class HintRule(Protocol):
    """Makes one value."""

    def value(self, body: Any, values: Mapping[str, Any]) -> Any:
        """JSON, or `Written`. values: by the names of VALUES. Raises one of `FAILURES`."""


class TemplateRule:
    """Jinja2, in the sandbox of all templates."""

    __slots__ = ("source", "template")

    def __init__(self, source: str) -> None:
        if len(source) > MAX_TEMPLATE_CHARS:
            raise ValueError(f"the template has more than {MAX_TEMPLATE_CHARS:,} characters; make it shorter")
        self.source = source
        self.template: Template = compiled(source)
        allowed = VALUES | {CONTEXT}
        if unknown := sorted(meta.find_undeclared_variables(parsed(source)) - allowed):
            raise ValueError(f"{unknown[0]!r} is no value of a template; write {CONTEXT}.{unknown[0]}")

    def value(self, body: Any, values: Mapping[str, Any]) -> Any:
        """The text that it writes."""
        fields = marked(body)
        context = self.template.new_context({**values, CONTEXT: fields, "body": fields})
        return Written("".join(self.template.root_render_func(context)).strip("\n"))


class FormatRule:
    """A text with paths in braces; missing values are empty, objects and lists one line."""

    __slots__ = ("_parts",)

    def __init__(self, text: str) -> None:
        if len(text) > MAX_FORMAT_CHARS:
            raise ValueError(f"the format has more than {MAX_FORMAT_CHARS:,} characters; make it shorter")
        self._parts: tuple[str | Path, ...] = tuple(_parts_of(text))

    def value(self, body: Any, values: Mapping[str, Any]) -> Any:  # noqa: ARG002 - a rule is given them
        """The text with its fields filled in."""
        return Written("".join(part if isinstance(part, str) else _filled(body, part) for part in self._parts))


class LiteralRule:
    """The same for every body."""

    __slots__ = ("_literal",)

    def __init__(self, literal: Any) -> None:
        self._literal = literal

    def value(self, body: Any, values: Mapping[str, Any]) -> Any:  # noqa: ARG002 - a rule is given them
        """As in the hints."""
        charge_for(self._literal)
        return self._literal


def rule_of(spec: Any) -> HintRule:
    """Raises `ValueError` with what to do, and Jinja's compile errors."""
    if not isinstance(spec, dict):
        raise ValueError('it is no object; write {"type": "template", "template": "…"}')  # noqa: TRY004 - one family of reasons
    name = str(spec.get("type"))
    if name == "literal" and "literal" in spec:
        return LiteralRule(spec["literal"])
    if name not in TEXT_RULES:
        raise ValueError(f"the type {name[:40]!r} does not exist; {advice(name, TYPES)}" if name != "literal" else _lacks(name))
    field, make = TEXT_RULES[name]
    text = spec.get(field)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(_lacks(field))
    try:
        return make(text)
    except (TemplateError, ValueError) as error:
        if name == "template" and _HANDLEBARS.search(text):
            raise ValueError("it is a Handlebars template; convert it: context-builder hints convert") from error
        raise


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


def _lacks(field: str) -> str:
    return f"it has no text under {field!r}; add it"


def _parts_of(text: str) -> list[str | Path]:
    parts: list[str | Path] = []
    end = 0
    for field in _FIELD.finditer(text):
        try:
            path = parse_path(field[1])
        except ValueError:
            continue
        parts += [text[end : field.start()], path]
        end = field.end()
    return [*parts, text[end:]]


def _filled(body: Any, path: Path) -> str:
    found_values = [value for value in values_at(body, path) if value is not None]
    charge_for(found_values, "x" * depth(found_values))
    value = found_values[0] if len(found_values) == 1 else found_values
    text = value if isinstance(value, str) else inline(value) if found_values else ""
    return str(quote(text))


TEXT_RULES: Mapping[str, tuple[str, Callable[[str], HintRule]]] = {
    "template": ("template", TemplateRule),
    "extract": ("value", Extraction),
    "format": ("format", FormatRule),
}
"""Type → the field with its text, and the rule."""
TYPES = (*TEXT_RULES, "literal")
