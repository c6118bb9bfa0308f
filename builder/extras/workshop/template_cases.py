"""Golden cases of templates: actual and expected text, and a first hint with its case. Needs no broker."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any

from builder.adapters.files import read_source
from builder.adapters.templates.examples import full
from builder.adapters.templates.folder import GENERIC, SUFFIX, TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.app.config import read_layers, template_folders
from builder.app.settings import Settings
from builder.assemble.items.forms import WHOLE
from builder.assemble.items.labels import tool_label
from builder.domain.breadcrumb import Place
from builder.domain.errors import BuilderError, Misconfigured
from builder.domain.lint_finding import NAME_LIKENESS, advice, nearest
from builder.extras.workshop.cases import FOLDER, Case, case_files, example_of, first_hint, read_case
from builder.extras.workshop.template_lint import lint_templates
from builder.remember.decode import BODIES, decode
from builder.wire.records import outgoing
from builder.wire.subjects import check_schema

Page = Callable[[tuple[str, ...], str], str]
"""JSON lines of records, profile → page. Raises `Rejected`, `Misconfigured`."""
WORKSPACE = "cases"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """A case's text now."""

    name: str
    template: str
    """Its hint or profile."""
    text: str
    """Empty when it fails."""
    expected: str | None
    problem: str = ""
    """Why it makes no text, or not by its own hint."""
    expected_file: Path

    @property
    def state(self) -> str:
        """ok, new (no expected text), differs, or fails."""
        if self.problem:
            return "fails"
        if self.expected is None:
            return "new"
        return "ok" if self.text == self.expected else "differs"

    @property
    def difference(self) -> str:
        """- expected, + now."""
        lines = unified_diff((self.expected or "").splitlines(), self.text.splitlines(), lineterm="", n=2)
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def run_cases(settings: Settings, page: Page, names: tuple[str, ...] = ()) -> tuple[CaseResult, ...]:
    """Cases of the author's folder, else bundled ones.

    names: of cases, hints or profiles. Raises `Misconfigured` for unknown names and unusable templates.
    """
    folders = template_folders(settings)
    cases = [(file, _read(file)) for file in case_files(folders[-1])]
    keys = {key for file, case in cases for key in _keys(file, case)}
    for name in names:
        if name not in keys:
            raise Misconfigured(f"no case, hint or profile is called {name!r}; {advice(name, keys)}")
    fragment = _fragments(folders)
    chosen = [(file, case) for file, case in cases if not names or _keys(file, case) & set(names)]
    return tuple(_result(file, case, fragment, page) for file, case in chosen)


def without_case(settings: Settings) -> tuple[str, ...]:
    """Hints of the folder that no case tries."""
    folder = template_folders(settings)[-1]
    schemas = {case.schema for file in case_files(folder) if isinstance(case := _read(file), Case) and not case.profile}
    hints = [file.name.removesuffix(SUFFIX) for file in sorted((folder / "hints").glob(f"*{SUFFIX}"))]
    tried = schemas if schemas.issubset(hints) else schemas | {GENERIC}
    return tuple(name for name in hints if name not in tried)


def update(results: tuple[CaseResult, ...]) -> tuple[Path, ...]:
    """Write differing texts as expected; returns the files."""
    stale = tuple(result for result in results if result.state in {"new", "differs"})
    for result in stale:
        result.expected_file.write_text(result.text, "utf-8")
    return tuple(result.expected_file for result in stale)


def states(results: tuple[CaseResult, ...], written: int = 0) -> Iterator[str]:
    """Sentences for a report's end. written: by `update`."""
    words = {"ok": "as expected", "differs": "differ", "new": "without an expected text", "fails": "fail"}
    numbers = {state: sum(result.state == state for result in results) for state in words}
    yield ", ".join([f"cases: {len(results)}", *(f"{words[state]}: {number}" for state, number in numbers.items() if number)])
    if written:
        yield f"expected texts written: {written}"
    elif numbers["differs"] or numbers["new"]:
        yield "context-builder templates test --update writes what they show now"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTemplate:
    """The written files."""

    hint: Path
    case: Path
    expected: Path
    source: str
    text: str
    """The example by the hint."""
    origin: str
    """Source of its fields."""


def new_template(
    settings: Settings, schema: str, folder: Path, from_schema: Path | None, from_record: Path | None
) -> NewTemplate:
    """Hint, case and expected text; overwrites nothing. Raises `Misconfigured`."""
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


def _read(file: Path) -> Case | BuilderError:
    try:
        return read_case(file)
    except BuilderError as error:
        return error


def _keys(file: Path, case: Case | BuilderError) -> frozenset[str]:
    own = {file.stem, f"cases/{file.name}"}
    return frozenset(own if isinstance(case, BuilderError) else own | {case.profile or case.schema})


def _fragments(folders: tuple[Path, ...]) -> Callable[[Case], tuple[str, str, str]]:
    @cache
    def templates() -> tuple[TemplateSet, TemplateSet]:
        plain = TemplateSet(*templates_of(read_layers(folders[:1])))
        return (TemplateSet(*templates_of(read_layers(folders))) if folders[1:] else plain), plain

    def fragment(case: Case) -> tuple[str, str, str]:
        own, plain = templates()
        crumb = decode(outgoing(case.records[0], WORKSPACE).arrive(Place(1, 1), NOON))
        label = tool_label(crumb.tool) if crumb.tool else crumb.speaker
        rendered = JinjaRendering(own, len, plain).fragment(crumb, WHOLE, label)
        return own.hint_for(crumb.schema), rendered.text + "\n", rendered.failed

    return fragment


def _result(file: Path, case: Case | BuilderError, fragment: Callable[[Case], tuple[str, str, str]], page: Page) -> CaseResult:
    if isinstance(case, BuilderError):
        return CaseResult(name=f"cases/{file.name}", template="", text="", expected=None, problem=str(case), expected_file=file)
    template, text, problem = f"profile {case.profile}" if case.profile else f"hints/{case.schema}{SUFFIX}", "", ""
    try:
        if case.profile:
            text = page(case.lines, case.profile)
        else:
            hint, text, problem = fragment(case)
            template = f"hints/{hint}{SUFFIX}"
    except BuilderError as error:
        problem = str(error)
    return CaseResult(
        name=case.name, template=template, text=text, expected=case.expected, problem=problem, expected_file=case.expected_file
    )


def _drafted(
    settings: Settings, schema: str, from_schema: Path | None, from_record: Path | None
) -> tuple[str, dict[str, Any], str]:
    if from_schema:
        body = example_of(_read_json(from_schema))
        if not isinstance(body, dict) or not body:
            raise Misconfigured(f"{from_schema.name} has no properties; name the JSON Schema of a record's context")
        return first_hint(schema, body), body, from_schema.name
    if from_record:
        record = _read_json(from_record)
        body = record.get("context", record)
        return first_hint(schema, body), body, from_record.name
    bundled, _, _ = templates_of(read_layers(template_folders(settings)[:1]))
    if schema in BODIES:
        body = full(schema)[0]
        return bundled.get(schema) or first_hint(schema, body), body, f"the schema {schema} of the service"
    near = nearest(schema, BODIES, NAME_LIKENESS)
    fix = "name a JSON Schema by --from-schema, or a record by --from-record"
    raise Misconfigured(f"nothing is known of the schema {schema!r}; {f'write {near}, or ' if near else ''}{fix}")


def _read_json(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_source(file))
    except (ValueError, RecursionError) as error:
        raise Misconfigured(f"{file} cannot be read as JSON: {error}; mend it, or name another file") from error
    if isinstance(value, dict):
        return value
    raise Misconfigured(f"{file} holds a JSON {type(value).__name__}; name a file with one object")


def _check(settings: Settings, schema: str, source: str) -> None:
    hints, _, languages = templates_of(read_layers(template_folders(settings)[:1]))
    templates = TemplateSet({GENERIC: hints[GENERIC], schema: source}, {}, languages)
    errors = [finding for finding in lint_templates(templates) if finding.severity == "error" and schema in finding.file]
    if errors:
        raise Misconfigured(f"no hint can be made of it: {errors[0]}")


def _no_page(*_: object) -> str:
    raise AssertionError("one record is no page")
