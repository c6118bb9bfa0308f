"""Commands of template authors."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.app.console import AsJson, say, settings, show
from builder.cli.options import Servers, Workspace, target, text_of
from builder.domain.errors import BuilderError, Misconfigured, Rejected
from builder.wire.subjects import optional_token

if TYPE_CHECKING:
    from builder.app.operations.template_cases import CaseResult
    from builder.app.settings import Settings

POLL_SECONDS = 0.1
"""Between two looks at the files with --watch."""
Preview = Callable[[], Awaitable[dict[str, Any]]]
"""The files as they are now → an answer in the shape of `replay`'s. Raises `Rejected`, `Misconfigured` and `Unavailable`."""


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


def preview(
    events: Annotated[str, typer.Argument(help="JSON lines of breadcrumbs or chat messages, - = standard input.")] = "",
    trigger: Annotated[
        str, typer.Option("--trigger", "-t", help="Id of the message; without EVENTS one that the service has remembered.")
    ] = "",
    templates: Annotated[
        Path | None,
        typer.Option(help="The edited folder; default is CONTEXT_BUILDER_TEMPLATES_DIR.", exists=True, file_okay=False),
    ] = None,
    before: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the version before; default is what the service published, or the bundled one.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    profile: Annotated[str, typer.Option("--profile", "-p", help="Profile or preset; default is the consumer's own.")] = "",
    consumer: Annotated[str, typer.Option("--consumer", "-c", help="Agent whose page is meant.")] = "",
    session: Annotated[str, typer.Option("--session", "-s", help="Session of events that name none, or of the trigger.")] = "",
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    page: Annotated[bool, typer.Option("--page", help="Print the whole page behind the differences.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Print again after every edit, until Ctrl-C.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what an edit of templates or profiles makes of a real page: lines side by side, and the tokens of each section."""
    folder = templates or settings().templates_dir
    if folder is None:
        raise Rejected("no folder of templates is named; use --templates DIR, or set CONTEXT_BUILDER_TEMPLATES_DIR")
    if not events and not trigger:
        raise Rejected("nothing to look at; name a file of events, - for standard input, or --trigger ID of a stored message")
    names = {"trigger": trigger, "profile": profile, "consumer": consumer, "session": session}

    async def work() -> None:
        async with AsyncExitStack() as stack:
            if events:
                make = await _of_fixture(stack, events, folder.expanduser(), before, names)
            else:
                make = await _of_stored(stack, folder.expanduser(), before, names, servers, workspace)
            await _print(make, as_json, page, folder.expanduser() if watch else None)

    asyncio.run(work())


def _lines(result: "CaseResult", *, written: bool) -> list[str]:
    state = "written" if written else result.state
    head = f"{result.name:<36} {result.template:<36} {state}".rstrip()
    more = result.problem or (result.difference if result.state == "differs" else "")
    return [head, *([indent(more, "    ")] if more else [])]


def _page(place: "Settings", lines: tuple[str, ...], profile: str) -> str:
    """The page of a case; words alone find, so that it is the same on every machine."""
    from builder.app.settings import EmbeddingSettings
    from builder.cli.build import build_once

    own = place.model_copy(update={"embedding": EmbeddingSettings(engine="none")})
    event: dict[str, Any] = asyncio.run(build_once(own, lines, "cases", "", profile, "", lambda _: None))
    return str(event["content"])


async def _of_fixture(stack: AsyncExitStack, events: str, folder: Path, before: Path | None, names: dict[str, str]) -> Preview:
    from builder.app.config import bundled_files, read_templates
    from builder.app.operations.explanations import open_fixture
    from builder.cli.build import read_breadcrumbs, trigger_of

    configuration = settings()
    session = optional_token(names["session"]) or "main"
    breadcrumbs = read_breadcrumbs(text_of(Path(events)).split("\n"), configuration.workspace, session, configuration.lifetimes)
    fixture = await stack.enter_async_context(open_fixture(configuration, breadcrumbs, trigger_of(breadcrumbs, names["trigger"])))
    bundled = bundled_files()

    async def make() -> dict[str, Any]:
        own = read_templates(before) if before else {}
        name = names["profile"] or names["consumer"] or "default"
        return await fixture.compare(name, (bundled, own), (bundled, read_templates(folder)))

    return make


async def _of_stored(
    stack: AsyncExitStack, folder: Path, before: Path | None, names: dict[str, str], servers: str, workspace: str
) -> Preview:
    from builder.app.config import read_templates

    client = await stack.enter_async_context(target(servers, workspace).connect())
    request = names | {"session": optional_token(names["session"]), "over_bundled": True}

    async def make() -> dict[str, Any]:
        answer = await client.request("replay", request | {"files": dict(read_templates(folder))})
        if before is None:
            return answer
        earlier = await client.request("replay", request | {"files": dict(read_templates(before))})
        return answer | {"before": earlier["after"]}

    return make


async def _print(make: Preview, as_json: bool, page: bool, watched: Path | None) -> None:
    """Once, or after every edit of the watched folder."""
    from builder.app.config import file_stamps
    from builder.cli.reports import comparison_text

    while True:
        stamps = file_stamps((watched,)) if watched else frozenset()
        try:
            answer = await make()
        except BuilderError as error:
            if not watched:
                raise
            say(str(error))
        else:
            text = comparison_text(answer, is_other=True) + (f"\n{answer['after']['content']}" if page else "")
            show(answer, as_json, text=text, note="\n".join(answer["notes"]))
        if not watched:
            return
        while file_stamps((watched,)) == stamps:
            await asyncio.sleep(POLL_SECONDS)
