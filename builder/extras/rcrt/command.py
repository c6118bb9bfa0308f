"""The commands of the bridge, and of hints that its records bring."""

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.app.console import AsJson, say, settings, show
from builder.cli.options import text_of

if TYPE_CHECKING:
    from builder.extras.rcrt.hint_conversion import ConvertedHints
    from builder.extras.rcrt.service import Comparison, Page


def rcrt(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing: compare each context with that of the deployment's own builder.")
    ] = False,
) -> None:
    """Be the context builder of an RCRT deployment: NATS_URL, RCRT_API_URL, OWNER_ID and AGENT_ID as its own builder has them."""
    from tempfile import TemporaryDirectory

    from builder.cli.serve import serve_until_signal
    from builder.extras.rcrt.service import bridging, rcrt_settings, service_parts, service_settings

    own, service = rcrt_settings(), settings()
    with TemporaryDirectory(prefix="context-builder-rcrt-") as folder:
        configuration = service_settings(service, own, folder if dry_run else "")
        report = (lambda comparison: say(dry_run_text(comparison))) if dry_run else None
        others = "the agents that RCRT's records define (`context-builder consumers` shows them)"
        bridge = partial(bridging, settings=configuration, own=own, report=report)
        asyncio.run(serve_until_signal(configuration, service_parts(), bridge, others))


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
    from builder.extras.rcrt.hint_conversion import convert_hints, read_files, write_hints

    texts = [("stdin", text_of(file))] if str(file) == "-" else list(read_files(file))
    converted = [(name, each) for name, text in texts for each in convert_hints(text, name)]
    if output is not None:
        write_hints((each for _, each in converted), output)
    rows = [
        {"source": name, "file": each.file, "text": each.text, "problems": [*map(str, each.findings)]} for name, each in converted
    ]
    errors = sum(each.errors for _, each in converted)
    show(rows, as_json, text="".join(_written(each, output) for _, each in converted))
    if not as_json:
        _say_findings(rows, errors)
    if errors:
        raise typer.Exit(1)


def _written(hints: "ConvertedHints", output: Path | None) -> str:
    """The text of the hints, or the file in which it is now."""
    if not hints.text:
        return ""
    return f"# {hints.file}\n{hints.text}" if output is None else f"{output / hints.file}\n"


def _say_findings(rows: list[dict[str, Any]], errors: int) -> None:
    findings = [f"{row['source']}: {problem}" for row in rows for problem in row["problems"]]
    for line in findings:
        say(line)
    say(f"hints converted: {sum(bool(row['text']) for row in rows)}, errors: {errors}, notes: {len(findings) - errors}")
    if not rows:
        say("no record has llm_hints; give records of RCRT with them, or llm_hints alone")


def dry_run_text(comparison: "Comparison") -> str:
    """One trigger of a dry run: our page, and a line that compares it with that of the deployment's own builder."""
    ours, theirs = comparison.ours, comparison.theirs
    others = _page_text(theirs, comparison) if theirs else "no context of its own builder has come yet"
    head = f"{comparison.consumer} for {comparison.trigger}: {_page_text(ours, comparison)}; RCRT: {others}"
    return head if theirs else f"{head}\n{comparison.content}"


def _page_text(page: "Page", comparison: "Comparison") -> str:
    return f"{page.tokens:,} tokens in {page.sections} sections, {page.messages} of {comparison.session_messages} messages"
