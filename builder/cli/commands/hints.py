"""Commands for the hints that records bring."""

from pathlib import Path
from typing import Annotated

import typer

from builder.app.console import AsJson, say, show
from builder.cli.options import text_of


def convert(
    file: Annotated[
        Path, typer.Argument(help="Records of RCRT as JSON or JSON lines, llm_hints alone, a folder of such files, or -.")
    ] = Path("-"),
    output: Annotated[
        Path | None, typer.Option(help="Folder for hints/<schema>.md.j2 and llm_hints/<name>.json; default is standard output.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Convert llm_hints with Handlebars templates to Jinja2, and report what cannot be. Exit code 1 when something cannot."""
    from builder.app.operations.hint_conversion import convert_hints, read_files, write_hints

    texts = [("stdin", text_of(file))] if str(file) == "-" else list(read_files(file))
    converted = [(name, each) for name, text in texts for each in convert_hints(text, name)]
    findings = [(name, finding) for name, each in converted for finding in each.findings]
    errors = sum(finding.problem.severity == "error" for _, finding in findings)
    if output is not None:
        write_hints((each for _, each in converted), output)
    rows = [
        {"source": name, "file": each.file, "text": each.text, "problems": [str(finding) for finding in each.findings]}
        for name, each in converted
    ]
    text = "".join(
        f"# {each.file}\n{each.text}" if output is None else f"{output / each.file}\n" for _, each in converted if each.text
    )
    show(rows, as_json, text=text)
    for name, finding in () if as_json else findings:
        say(f"{name}: {finding}")
    if not as_json:
        say(
            f"hints converted: {sum(bool(each.text) for _, each in converted)}, errors: {errors}, notes: {len(findings) - errors}"
        )
        if not converted:
            say("no record has llm_hints; give records of RCRT with them, or llm_hints alone")
    if errors:
        raise typer.Exit(1)
