"""`llm_hints` of RCRT's records (Handlebars) → hint templates or Jinja2 hints, with a report."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.adapters.templates.folder import SUFFIX, TemplateFailed
from builder.domain.errors import Rejected
from builder.domain.json_text import canonical
from builder.domain.json_values import parse
from builder.domain.selector import DEFINES_TAG, SCHEMA_DEFINITION
from builder.extras.rcrt.handlebars import Problem
from builder.extras.rcrt.hints import converted_rules
from builder.extras.rcrt.jinja import convert
from builder.extras.rcrt.llm_hints.rendering import KEYS, read_hints
from builder.remember.decode import HINTS_FIELD, schema_definition_tags
from builder.wire.subjects import check_token

SUFFIXES = (".json", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionFinding:
    """A place that somebody has to look at."""

    place: str
    """Record and rule."""
    problem: Problem

    def __str__(self) -> str:
        """The one line that people read."""
        return f"{self.place}: {self.problem}" if self.problem.line else f"{self.place}: {str(self.problem).partition(': ')[2]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedHints:
    """The hints of one record."""

    file: str
    """Path in a folder of templates, or in one of hints."""
    text: str
    """Empty where the service would refuse it."""
    findings: tuple[ConversionFinding, ...]

    @property
    def errors(self) -> int:
        """Findings because of which something is not converted."""
        return sum(finding.problem.severity == "error" for finding in self.findings)


def convert_hints(text: str, source: str) -> tuple[ConvertedHints, ...]:
    """Each record with hints.

    text: record, list, JSON lines, or `llm_hints`. source: its name. Raises `Rejected` for other text.
    """
    converted: dict[str, ConvertedHints] = {}
    for number, record in enumerate(_records(text, source), 1):
        each = _converted(record, number, Path(source).stem)
        if each is None:
            continue
        key = each.file if each.text else f"record {number}"
        twin = converted.get(key)
        if twin is not None and twin.text != each.text:
            problem = Problem(0, f"another record gives {each.file} with other content", "convert them apart, and choose")
            converted[key] = _with(twin, ConversionFinding(place=f"record {number}", problem=problem))
        elif twin is None:
            converted[key] = each
    return tuple(converted.values())


def read_files(path: Path) -> Iterator[tuple[str, str]]:
    """Name and text of a file, or of all JSON files below a folder. Raises `Rejected`."""
    files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES) if path.is_dir() else [path]
    if not files:
        raise Rejected(f"{path} has no files that end in {', '.join(SUFFIXES)}; name a file or a folder of records")
    for file in files:
        try:
            yield file.name, file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Rejected(f"{file} cannot be read: {error}; give a file of JSON in UTF-8") from error


def write_hints(converted: Iterable[ConvertedHints], folder: Path) -> tuple[str, ...]:
    """Write them below a folder; returns names. Raises `Rejected` for an existing file with other content."""
    names = []
    for each in (each for each in converted if each.text):
        file = folder / each.file
        if file.exists() and file.read_text("utf-8") != each.text:
            raise Rejected(f"{file} is there already, with other content; take it away, or choose another --output")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(each.text, "utf-8")
        names.append(each.file)
    return tuple(names)


def _records(text: str, source: str) -> list[dict[str, Any]]:
    try:
        value = parse(text)
    except ValueError:
        value = [_line(line, number, source) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    records = value if isinstance(value, list) else [value]
    return [record for record in records if isinstance(record, dict)]


def _line(line: str, number: int, source: str) -> Any:
    try:
        return parse(line)
    except ValueError as error:
        raise Rejected(f"{source} line {number} is no JSON: {error}; give records, JSON lines, or llm_hints") from error


def _converted(record: Mapping[str, Any], number: int, stem: str) -> ConvertedHints | None:
    context = record.get("context")
    body: dict[str, Any] = context if isinstance(context, dict) else {}
    is_bare = "context" not in record and not record.keys().isdisjoint({"transform", "include", "exclude", "mode"})
    hints = record if is_bare else record.get(HINTS_FIELD) or body.get(HINTS_FIELD)
    if not isinstance(hints, dict) or not hints:
        return None
    schema = _schema(record, body)
    place = f"record {number}" + (f" ({schema})" if schema else "")
    if schema and (single := _single_template(hints)):
        return _as_template(hints, single, schema, place)
    converted = converted_rules(hints)
    refused = [*_check(converted.hints, place)]
    text = "" if refused else _ended(json.dumps(converted.hints, ensure_ascii=False, indent=2))
    findings = (*_unread_keys(hints, place), *_of_rules(place, converted.problems), *refused)
    return ConvertedHints(file=f"llm_hints/{schema or stem}.json", text=text, findings=findings)


def _as_template(hints: Mapping[str, Any], single: Mapping[str, Any], schema: str, place: str) -> ConvertedHints:
    """The only rule as a hint template. single: its key and rule."""
    ((key, rule),) = single.items()
    conversion = convert(str(rule["template"]), "body")
    refused = [*_check({**hints, "transform": {key: {**rule, "template": conversion.text}}}, place)]
    text = "" if refused else _ended(conversion.text)
    problems = _of_rules(place, ((key, problem) for problem in conversion.problems))
    findings = (*_unread_keys(hints, place), *problems, *(refused if conversion.text else ()))
    return ConvertedHints(file=f"hints/{schema}{SUFFIX}", text=text, findings=findings)


def _of_rules(place: str, problems: Iterable[tuple[str, Problem]]) -> Iterator[ConversionFinding]:
    return (ConversionFinding(place=f"{place} transform.{key}", problem=problem) for key, problem in problems)


def _schema(record: Mapping[str, Any], body: dict[str, Any]) -> str:
    name = record.get("schema_name")
    if name == SCHEMA_DEFINITION:
        tags = schema_definition_tags(SCHEMA_DEFINITION, tuple(map(str, record.get("tags") or ())), body)
        name = next((tag.removeprefix(DEFINES_TAG) for tag in tags if tag.startswith(DEFINES_TAG)), "")
    try:
        for part in str(name or "").split("."):
            check_token(part, "schema")
    except Rejected:
        return ""
    return str(name)


def _single_template(hints: Mapping[str, Any]) -> dict[str, Any]:
    rules = hints.get("transform")
    if not isinstance(rules, dict) or len(rules) != 1 or hints.get("mode", "replace") != "replace":
        return {}
    rule = next(iter(rules.values()))
    is_template = isinstance(rule, dict) and rule.get("type") == "template" and isinstance(rule.get("template"), str)
    return rules if is_template and not hints.get("include") and not hints.get("exclude") else {}


def _unread_keys(hints: Mapping[str, Any], place: str) -> Iterator[ConversionFinding]:
    for key in sorted(hints.keys() - KEYS):
        fix = 'write it as a rule of `transform`: {"type": "template", …}' if key == "template" else "take it out"
        yield ConversionFinding(place=place, problem=Problem(0, f"nothing reads {key!r} of hints", fix, "note"))


def _check(hints: Mapping[str, Any], place: str) -> Iterator[ConversionFinding]:
    try:
        read_hints(canonical(hints))
    except TemplateFailed as error:
        problem, _, fix = str(error).partition("; ")
        yield ConversionFinding(place=place, problem=Problem(0, problem, fix or "mend it"))


def _with(converted: ConvertedHints, finding: ConversionFinding) -> ConvertedHints:
    return ConvertedHints(file=converted.file, text=converted.text, findings=(*converted.findings, finding))


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"
