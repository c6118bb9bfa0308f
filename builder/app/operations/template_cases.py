"""Golden cases of templates: what each makes now, beside what it should. Needs no broker; a single fragment needs no store."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any

from builder.adapters.templates.cases import Case, case_files, read_case
from builder.adapters.templates.folder import GENERIC, SUFFIX, TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.app.config import read_layers, template_folders
from builder.app.settings import Settings
from builder.assemble.items.forms import WHOLE
from builder.assemble.items.labels import tool_label
from builder.domain.breadcrumb import Place
from builder.domain.errors import BuilderError, Misconfigured
from builder.domain.nearest import advice
from builder.remember.decode import decode
from builder.wire.records import outgoing

Page = Callable[[tuple[str, ...], str], str]
"""Records as JSON lines and the name of a profile → their page. Raises `Rejected` and `Misconfigured`."""
WORKSPACE = "cases"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What a case makes now."""

    name: str
    template: str
    """The hint or the profile that it belongs to."""
    text: str
    """The text; "" when it fails."""
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
        """What is expected with -, what a case makes with +."""
        lines = unified_diff((self.expected or "").splitlines(), self.text.splitlines(), lineterm="", n=2)
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def run_cases(settings: Settings, page: Page, names: tuple[str, ...] = ()) -> tuple[CaseResult, ...]:
    """The cases of the author's folder, else the bundled ones. names: of cases, hints or profiles; none = all.

    Raises `Misconfigured` for a name that none has, and for templates that cannot be used.
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
    """The hints of the same folder that no case tries."""
    folder = template_folders(settings)[-1]
    schemas = {case.schema for file in case_files(folder) if isinstance(case := _read(file), Case) and not case.profile}
    hints = (file.name.removesuffix(SUFFIX) for file in sorted((folder / "hints").glob(f"*{SUFFIX}")))
    names = {file.name.removesuffix(SUFFIX) for file in (folder / "hints").glob(f"*{SUFFIX}")}
    unknown = any(schema not in names for schema in schemas)
    return tuple(name for name in hints if name not in schemas and not (name == GENERIC and unknown))


def case_bodies(folder: Path) -> dict[str, tuple[dict[str, Any], ...]]:
    """Schema → the bodies of the cases that are one record."""
    cases = [case for file in case_files(folder) if isinstance(case := _read(file), Case) and not case.profile]
    bodies: dict[str, tuple[dict[str, Any], ...]] = {}
    for case in cases:
        bodies[case.schema] = (*bodies.get(case.schema, ()), case.records[0]["context"])
    return bodies


def update(results: tuple[CaseResult, ...]) -> tuple[Path, ...]:
    """Write what they make as what is expected, where it differs; returns the files."""
    stale = tuple(result for result in results if result.state in {"new", "differs"})
    for result in stale:
        result.expected_file.write_text(result.text, "utf-8")
    return tuple(result.expected_file for result in stale)


def _read(file: Path) -> Case | BuilderError:
    try:
        return read_case(file)
    except BuilderError as error:
        return error


def _keys(file: Path, case: Case | BuilderError) -> frozenset[str]:
    """The names by which a case is called."""
    own = {file.stem, f"cases/{file.name}"}
    return frozenset(own if isinstance(case, BuilderError) else own | {case.profile or case.schema})


def _fragments(folders: tuple[Path, ...]) -> Callable[[Case], tuple[str, str, str]]:
    """A case → hint, text and why its own hint failed. The templates are read when the first case needs them."""

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


def states(results: tuple[CaseResult, ...], written: int = 0) -> Iterator[str]:
    """Sentences for the end of a report. written: expected texts that `update` wrote."""
    words = {"ok": "as expected", "differs": "differ", "new": "without an expected text", "fails": "fail"}
    numbers = {state: sum(result.state == state for result in results) for state in words}
    yield ", ".join([f"cases: {len(results)}", *(f"{words[state]}: {number}" for state, number in numbers.items() if number)])
    if written:
        yield f"expected texts written: {written}"
    elif numbers["differs"] or numbers["new"]:
        yield "context-builder templates test --update writes what they show now"
