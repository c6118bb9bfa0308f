"""Errors of a profile file for its author: setting by name, allowed values, nearest word."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from builder.adapters.files import line_of
from builder.adapters.profiles.former_settings import SECTIONS
from builder.adapters.profiles.layers import Layer, Path, SettingError, origins
from builder.domain.lint_finding import LintFinding, advice, nearest

MAX_ERRORS = 50
MAX_NAME_CHARS = 60
MAX_VALUE_CHARS = 120
UNION_ERRORS = frozenset({"string_type", "tuple_type", "bool_type", "dataclass_type", "dict_type"})
"""One for each alternative that a value is not."""
UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
"""A model's and a dataclass's."""
KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "a text",
    "tuple": "a list in brackets: [one, two]",
    "dict": "a mapping: {name: value}",
    "model": "a mapping: {setting: value}",
    "dataclass": "a mapping: {setting: value}",
    "mapping": "a mapping: {name: value}",
}
_BOUNDS = {
    "greater_than": ("too small", "gt", "more than"),
    "greater_than_equal": ("too small", "ge", "at least"),
    "less_than": ("too large", "lt", "less than"),
    "less_than_equal": ("too large", "le", "at most"),
}
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")
MIN_PERCENT, PERCENT = 2, 100
"""A share in this range was meant in percent."""


def finding_of(error: SettingError, stack: tuple[Layer, ...], file: str) -> LintFinding:
    """At its line. file: of the topmost layer."""
    layer = layer_of(error.path, stack, origins(stack))
    line, setting = line_of(layer.source, error.path), setting_name(error.path)
    return LintFinding(file=layer.file or file, line=line, place=setting, problem=error.problem, fix=error.fix)


def setting_name(path: Path) -> str:
    """As its author calls it, sections by name; long names are cut."""
    path = tuple(step[:MAX_NAME_CHARS] for step in path)
    if path[:1] == (SECTIONS,) and len(path) > 1:
        inner = f", `{'.'.join(path[2:])}`" if path[2:] else ""
        name = f"number {int(path[1]) + 1}" if path[1].isdigit() else f"`{path[1]}`"
        return f"section {name}{inner}"
    return f"`{'.'.join(path)}`" if path else ""


def findings_of(
    error: ValidationError, values: Mapping[str, Any], stack: tuple[Layer, ...], file: str, model: type[BaseModel]
) -> tuple[LintFinding, ...]:
    """Every error of the merged values. file: the topmost layer. model: reads the values."""
    by_path: dict[Path, ErrorDetails] = {}
    for each in error.errors(include_url=False)[:MAX_ERRORS]:
        path = _path(each, values)
        if path not in by_path or by_path[path]["type"] in UNION_ERRORS:
            by_path[path] = each
    owners = origins(stack)
    findings = (
        _finding(path, each, stack, owners, file, model)
        for path, each in by_path.items()
        if each["type"] not in UNION_ERRORS or not any(other[: len(path)] == path for other in by_path.keys() - {path})
    )
    return tuple(sorted(findings, key=lambda finding: (finding.file != file, finding.line)))


def layer_of(path: Path, stack: tuple[Layer, ...], owners: Mapping[Path, Layer]) -> Layer:
    """The file to edit: the last that sets something there, else the topmost. owners: `origins`."""
    layers = [layer for leaf, layer in owners.items() if leaf[: len(path)] == path]
    return next((layer for layer in reversed(stack) if any(layer is other for other in layers)), stack[-1])


def settings_at(model: type[BaseModel], path: Sequence[str | int]) -> tuple[str, ...]:
    """Names of the settings at a path, by the JSON Schema."""
    schema = _schema(model)
    parts: list[dict[str, Any]] = [schema]
    for step in path:
        parts = [inner for part in parts for inner in _inner(part, step, schema["$defs"])] or parts
    return tuple(dict.fromkeys(name for part in parts for name in part.get("properties", {})))


def _path(error: ErrorDetails, values: Mapping[str, Any]) -> Path:
    path: list[str] = []
    value: Any = values
    is_named = error["type"] in {"missing", *UNKNOWN}
    for number, step in enumerate(error["loc"]):
        if isinstance(value, Mapping) and step in value:
            value, name = value[step], str(step)
        elif isinstance(value, Sequence) and not isinstance(value, str) and isinstance(step, int) and step < len(value):
            value = value[step]
            name = str(value.get("name", step)) if path == [SECTIONS] and isinstance(value, Mapping) else str(step)
        elif is_named and number == len(error["loc"]) - 1:
            name = str(step)
        else:
            continue
        path.append(name)
    return tuple(path)


def _finding(
    path: Path,
    error: ErrorDetails,
    stack: tuple[Layer, ...],
    owners: Mapping[Path, Layer],
    file: str,
    model: type[BaseModel],
) -> LintFinding:
    layer = layer_of(path, stack, owners)
    above = path[:-1] if error["type"] == "missing" else path
    problem, fix = _words(path, error, model, extends="extends" in stack[-1].source)
    return LintFinding(
        file=layer.file or file, line=line_of(layer.source, above), place=setting_name(path), problem=problem, fix=fix
    )


def _words(path: Path, error: ErrorDetails, model: type[BaseModel], *, extends: bool) -> tuple[str, str]:
    text = _value_text(error["input"])
    match error["type"]:
        case kind if kind in UNKNOWN:
            return f"there is no setting {path[-1][:MAX_NAME_CHARS]!r}", advice(path[-1], settings_at(model, error["loc"][:-1]))
        case "missing":
            is_partial = len(path) == 1 and not extends
            fix = "write `extends: default` to change the default profile, or add it" if is_partial else "add it"
            return "it is missing", fix
        case "literal_error":
            sessions = f", or a list of sessions: [{error['input']}]" if path[-1:] == ("scope",) else ""
            return f"{text} is not allowed", _choice(str(error["input"]), str(error["ctx"]["expected"])) + sessions
        case "value_error":
            problem, _, fix = str(error["ctx"]["error"]).partition("; ")
            return problem, fix or "mend it"
        case kind if kind in _BOUNDS:
            state, name, words = _BOUNDS[kind]
            return f"{text} is {state}", _bound_fix(error["input"], error["ctx"][name], words, name)
    return _wrong_kind(error, text)


def _wrong_kind(error: ErrorDetails, text: str) -> tuple[str, str]:
    kind, value = error["type"].partition("_")[0], error["input"]
    if error["type"] == "too_short":
        return "it is empty", "write one at least"
    if kind not in KINDS:
        return f"{error['msg']}, got {text}", "mend it"
    if kind == "float" and (percent := _PERCENT.fullmatch(str(value))):
        return f"{text} is not a number", f"write {float(percent[1]) / PERCENT:g}"
    is_one = kind == "tuple" and isinstance(value, str)
    return f"{text} is not {KINDS[kind].partition(':')[0]}", f"write [{value}]" if is_one else f"write {KINDS[kind]}"


def _bound_fix(value: Any, limit: float, words: str, name: str) -> str:
    number = f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
    is_percent = name in {"le", "lt"} and limit == 1 and isinstance(value, int | float) and MIN_PERCENT <= value <= PERCENT
    return f"write {words} {number}" + (f", for {value:g} % {value / PERCENT:g}" if is_percent else "")


def _choice(value: str, expected: str) -> str:
    allowed = [each.strip(" '") for each in expected.replace(" or ", ", ").split(",")]
    near = nearest(value, allowed)
    return f"write {near}; allowed are {', '.join(allowed)}" if near else f"use one of {', '.join(allowed)}"


def _value_text(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}…"


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


def _inner(part: dict[str, Any], step: str | int, definitions: Mapping[str, Any]) -> list[dict[str, Any]]:
    if isinstance(step, int):
        child = part.get("items")
    else:
        child = part.get("properties", {}).get(step) or part.get("additionalProperties")
    return _resolved(child, definitions) if isinstance(child, dict) else []


def _resolved(part: dict[str, Any], definitions: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "$ref" in part:
        return [definitions[part["$ref"].rpartition("/")[2]]]
    return [
        each for choice in part.get("anyOf", [part]) for each in (_resolved(choice, definitions) if choice != part else [part])
    ]
