"""The rules of `transform`: how the value of one key is made from a body."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jinja2 import Template, TemplateError, meta

from builder.adapters.templates.llm_hints.extraction import Extraction
from builder.adapters.templates.llm_hints.jq_program import check_query, jq_process
from builder.adapters.templates.llm_hints.paths import Path, parse_path, values_at
from builder.adapters.templates.sandbox.environment import compiled, parsed
from builder.adapters.templates.sandbox.filters import inline
from builder.adapters.templates.sandbox.meter import charge_for, spend
from builder.adapters.templates.sandbox.missing import marked
from builder.adapters.templates.values import VALUES
from builder.assemble.items.list_items import quote
from builder.domain.json_text import depth
from builder.domain.nearest import advice

MAX_TEMPLATE_CHARS = 16_384
MAX_FORMAT_CHARS = 16_384
CONTEXT = "context"
"""The body, as RCRT's templates call it."""
_PLACE = re.compile(r"\{([^{}\n]+)\}")
_HANDLEBARS = re.compile(r"\{\{~?(?:[#/^>!&{]|\s*else\b|\s*this\b)|\{\{[^}]*@\w|\.\./|\.\[")


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """What rules are applied to."""

    body: Any
    """Plain JSON."""
    values: Mapping[str, Any]
    """Those of a hint template, by the names of VALUES."""


class Written(str):
    """Text of a rule whose lines are its own, with values of a body in it that are marked as in a hint template."""

    __slots__ = ()


class Rule(Protocol):
    """Makes one value."""

    def value(self, data: Data) -> Any:
        """A JSON value, or `Written`. Raises one of `FAILURES`."""


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

    def value(self, data: Data) -> Any:
        """The text that it writes."""
        body = marked(data.body)
        context = self.template.new_context({**data.values, CONTEXT: body, "body": body})
        return Written("".join(self.template.root_render_func(context)).strip("\n"))


class ExtractRule:
    """JSONPath."""

    __slots__ = ("_extraction",)

    def __init__(self, query: str) -> None:
        self._extraction = Extraction(query)

    def value(self, data: Data) -> Any:
        """See `Extraction.value`."""
        return self._extraction.value(data.body)


class FormatRule:
    """A text with paths in single braces; what is missing is empty, an object or a list stands in one line."""

    __slots__ = ("_parts",)

    def __init__(self, text: str) -> None:
        if len(text) > MAX_FORMAT_CHARS:
            raise ValueError(f"the format has more than {MAX_FORMAT_CHARS:,} characters; make it shorter")
        self._parts: tuple[str | Path, ...] = tuple(_parts_of(text))

    def value(self, data: Data) -> Any:
        """The text with its places filled in."""
        return Written("".join(part if isinstance(part, str) else _filled(data.body, part) for part in self._parts))


class LiteralRule:
    """The same for every body."""

    __slots__ = ("_literal",)

    def __init__(self, literal: Any) -> None:
        self._literal = literal

    def value(self, data: Data) -> Any:  # noqa: ARG002 - a rule is given them
        """As it stands in the hints."""
        charge_for(self._literal)
        return self._literal


class JqRule:
    """A jq query, in its process."""

    __slots__ = ("_query",)

    def __init__(self, query: str) -> None:
        check_query(query)
        self._query = query

    def value(self, data: Data) -> Any:
        """See `JqProcess.value`. The time of its process counts for the rendering. Raises `LimitExceeded` too."""
        value, seconds = jq_process().value(self._query, data.body)
        spend(seconds)
        charge_for(value)
        return value


TEXT_RULES: Mapping[str, tuple[str, Callable[[str], Rule]]] = {
    "template": ("template", TemplateRule),
    "extract": ("value", ExtractRule),
    "format": ("format", FormatRule),
    "jq": ("query", JqRule),
}
"""Type → the field with its text, and the rule."""
TYPES = (*TEXT_RULES, "literal")


def rule_of(spec: Any) -> Rule:
    """The rule that this JSON describes. Raises `ValueError` with what to do, and Jinja's errors of compiling."""
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


def _lacks(field: str) -> str:
    return f"it has no text under {field!r}; add it"


def _parts_of(text: str) -> list[str | Path]:
    """The text and the paths in turn; braces around anything that is no path are text."""
    parts: list[str | Path] = []
    end = 0
    for place in _PLACE.finditer(text):
        try:
            path = parse_path(place[1])
        except ValueError:
            continue
        parts += [text[end : place.start()], path]
        end = place.end()
    return [*parts, text[end:]]


def _filled(body: Any, path: Path) -> str:
    found_values = [value for value in values_at(body, path) if value is not None]
    charge_for(found_values, "x" * depth(found_values))
    value = found_values[0] if len(found_values) == 1 else found_values
    text = value if isinstance(value, str) else inline(value) if found_values else ""
    return str(quote(text))
