"""Commands of template authors."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.app.console import AsJson, say, settings, show
from builder.domain.errors import Misconfigured

if TYPE_CHECKING:
    from builder.app.operations.template_cases import CaseResult
    from builder.app.settings import Settings


def run_cases(
    names: Annotated[list[str] | None, typer.Argument(help="Cases, hints or profiles; default is all.")] = None,
    *,
    update: Annotated[bool, typer.Option("--update", help="Write what they show now as what is expected.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare what each case shows now with the text that it should show. Exit code 1 if any differs.

    Cases are the files `cases/*.json` and `.jsonl` of your templates folder, without one the bundled ones.
    """
    from builder.app.operations import template_cases as operation

    place = settings()
    results = operation.run_cases(place, lambda lines, profile: _page(place, lines, profile), tuple(names or ()))
    files = operation.update(results) if update else ()
    lines = [line for result in results for line in _lines(result, written=result.expected_file in files)]
    missing = [f"no case tries hints/{name}.md.j2" for name in operation.without_case(place)] if not names else []
    rows = [asdict(result) | {"state": result.state, "expected_file": str(result.expected_file)} for result in results]
    show(rows, as_json, text="".join(f"{line}\n" for line in lines))
    for line in (*missing, *operation.states(results, written=len(files))):
        say(line)
    if any(result.state != "ok" and result.expected_file not in files for result in results):
        raise typer.Exit(1)


def new(
    schema: Annotated[str, typer.Argument(help="Schema of the breadcrumbs, e.g. ticket.v1.")],
    from_schema: Annotated[
        Path | None, typer.Option("--from-schema", help="JSON Schema of its context.", exists=True, dir_okay=False)
    ] = None,
    from_record: Annotated[
        Path | None, typer.Option("--from-record", help="A sample record.", exists=True, dir_okay=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of templates; default is CONTEXT_BUILDER_TEMPLATES_DIR.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Write a first hint for a schema and a case beside it, and show its example. Nothing is written over."""
    from builder.app.operations.template_cases import new_template

    place = settings()
    folder = output or place.templates_dir
    if folder is None:
        raise Misconfigured("no folder of templates is named; write --output DIR, or set CONTEXT_BUILDER_TEMPLATES_DIR")
    template = new_template(place, schema, folder.expanduser(), from_schema, from_record)
    for file in (template.hint, template.case, template.expected):
        say(f"wrote {file}")
    say(f"made from {template.origin}; its example reads:")
    values = {name: str(value) for name, value in asdict(template).items()}
    show(values, as_json, text=template.text)


def lint(
    names: Annotated[list[str] | None, typer.Argument(help="Hints; default is all.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Report what is wrong with templates alone. Exit code 1 for errors."""
    from builder.app.operations.profile_catalog import template_findings

    findings = template_findings(settings(), tuple(names or ()))
    errors = [finding for finding in findings if finding.severity == "error"]
    note = f"errors: {len(errors)}, notes: {len(findings) - len(errors)}" if findings else "nothing is wrong with the templates"
    show([asdict(finding) for finding in findings], as_json, text="".join(f"{each}\n" for each in findings), note=note)
    if errors:
        raise typer.Exit(1)


def _lines(result: "CaseResult", *, written: bool) -> list[str]:
    state = "written" if written else result.state
    head = f"{result.name:<36} {result.template:<36} {state}".rstrip()
    more = result.problem or (result.difference if result.state == "differs" else "")
    return [head, *([indent(more, "    ")] if more else [])]


def _page(place: "Settings", lines: tuple[str, ...], profile: str) -> str:
    """Words alone find, so that the page is the same on every machine."""
    from builder.app.settings import EmbeddingSettings
    from builder.cli.build import build_once

    own = place.model_copy(update={"embedding": EmbeddingSettings(engine="none")})
    event: dict[str, Any] = asyncio.run(build_once(own, lines, "cases", "", profile, "", lambda _: None))
    return str(event["content"])
