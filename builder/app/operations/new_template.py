"""A first hint for a schema, with a case beside it: from a known schema, a JSON Schema, its definition, or a sample record."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.adapters.templates.cases import FOLDER
from builder.adapters.templates.first_hint import first_hint
from builder.adapters.templates.folder import GENERIC, SUFFIX, TemplateSet, templates_of
from builder.adapters.templates.json_schemas import example_of, fields_of, schema_of
from builder.adapters.templates.lint import lint_templates
from builder.app.config import read_layers, template_folders
from builder.app.operations.template_cases import run_cases, update
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.domain.nearest import NAME_LIKENESS, nearest
from builder.remember.schemas.examples import full
from builder.remember.schemas.registry import BODIES
from builder.wire.files import read_source
from builder.wire.subjects import check_schema

DEFINITION = "schema.def.v1"
PLACES = ("schema", "json_schema", "jsonSchema", "definition", "schema_definition")
"""Fields of a definition that may hold the JSON Schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTemplate:
    """What was written, and what it shows."""

    hint: Path
    case: Path
    expected: Path
    source: str
    text: str
    """The example by the hint."""
    origin: str
    """Where its fields come from."""


def new_template(
    settings: Settings, schema: str, folder: Path, from_schema: Path | None, from_record: Path | None
) -> NewTemplate:
    """Write the hint of a schema and a case with its expected text. Nothing is written over.

    Raises `Misconfigured` for a schema of which nothing is known, for files that are there, and for what cannot be read.
    """
    check_schema(schema)
    hint, case = folder / "hints" / f"{schema}{SUFFIX}", folder / FOLDER / f"{schema}.json"
    expected = case.with_suffix(".md")
    for file in (hint, case, expected):
        if file.exists():
            raise Misconfigured(
                f"{file} is there already, and nothing is written over; edit it, move it away, or name another --output"
            )
    source, body, origin = _drafted(settings, schema, from_schema, from_record)
    _check(settings, schema, source)
    record = {"schema_name": schema, "context": {name: value for name, value in body.items() if name != "session_id"}}
    for file, text in ((hint, source), (case, json.dumps(record, ensure_ascii=False, indent=2))):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.rstrip("\n") + "\n", "utf-8")
    own = settings.model_copy(update={"templates_dir": folder})
    (result,) = run_cases(own, _no_page, (f"{FOLDER}/{case.name}",))
    update((result,))
    return NewTemplate(hint=hint, case=case, expected=expected, source=source, text=result.text, origin=origin)


def _drafted(
    settings: Settings, schema: str, from_schema: Path | None, from_record: Path | None
) -> tuple[str, dict[str, Any], str]:
    """Source, example and origin."""
    if from_schema:
        return _of_schema(schema, _read(from_schema), from_schema.name)
    if from_record:
        record = _read(from_record)
        if record.get("schema_name") == DEFINITION:
            return _of_schema(schema, _defined(record.get("context") or {}, from_record.name), from_record.name)
        body = record.get("context", record)
        return first_hint(schema, fields_of(schema_of(body))), body, from_record.name
    bundled, _, _ = templates_of(read_layers(template_folders(settings)[:1]))
    if schema in bundled:
        return bundled[schema], full(schema)[0], f"the bundled hint of {schema}"
    if schema in BODIES:
        return (
            first_hint(schema, fields_of(BODIES[schema].model_json_schema(by_alias=True))),
            full(schema)[0],
            f"schemas/{schema}.json",
        )
    near = nearest(schema, BODIES, NAME_LIKENESS)
    fix = "name a JSON Schema by --from-schema, or a record by --from-record"
    raise Misconfigured(f"nothing is known of the schema {schema!r}; {f'write {near}, or ' if near else ''}{fix}")


def _of_schema(schema: str, definition: dict[str, Any], origin: str) -> tuple[str, dict[str, Any], str]:
    fields, body = fields_of(definition), example_of(definition)
    if not fields or not isinstance(body, dict):
        raise Misconfigured(f"{origin} describes no object with properties; name the JSON Schema of a record's context")
    return first_hint(schema, fields), body, origin


def _defined(context: dict[str, Any], origin: str) -> dict[str, Any]:
    """The JSON Schema within a definition."""
    samples = context.get("examples")
    examples = [each for each in samples if isinstance(each, dict)] if isinstance(samples, list) else []
    for place in PLACES:
        if isinstance(context.get(place), dict) and "properties" in context[place]:
            return {**context[place], **({"examples": examples} if examples else {})}
    if "properties" in context:
        return context
    raise Misconfigured(f"{origin} is a {DEFINITION} without a JSON Schema; put it into its context as `schema`")


def _read(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_source(file))
    except (ValueError, RecursionError) as error:
        raise Misconfigured(f"{file} cannot be read as JSON: {error}; mend it, or name another file") from error
    if isinstance(value, dict):
        return value
    raise Misconfigured(f"{file} holds a JSON {type(value).__name__}; name a file with one object")


def _check(settings: Settings, schema: str, source: str) -> None:
    """The hint passes lint. Raises `Misconfigured` with what does not."""
    hints, _, languages = templates_of(read_layers(template_folders(settings)[:1]))
    templates = TemplateSet({GENERIC: hints[GENERIC], schema: source}, {}, languages)
    errors = [finding for finding in lint_templates(templates) if finding.severity == "error" and schema in finding.file]
    if errors:
        raise Misconfigured(f"no hint can be made of it: {errors[0]}")


def _no_page(*_: object) -> str:
    raise AssertionError("one record is no page")
