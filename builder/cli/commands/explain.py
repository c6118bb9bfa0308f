"""Commands that explain a context: explain, why, replay.

`templates preview`: what an edit makes of a page, beside the version before.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from builder.cli.options import AsJson, Servers, Workspace, say, settings, show, target, text_of
from builder.domain.errors import BuilderError, Rejected
from builder.wire.session_names import optional_token

Trigger = Annotated[
    str, typer.Argument(help="Id of the message that asked for the context; without it the session's last context is meant.")
]
Consumer = Annotated[str, typer.Option("--consumer", "-c", help="Agent whose context is meant; needed where several got one.")]
Session = Annotated[str, typer.Option("--session", "-s", help="The session, without an id or where several have one of this id.")]
ALL = 0
"""--most without a limit."""
POLL_SECONDS = 0.1
"""Between two looks at the files with --watch."""
Preview = Callable[[], Awaitable[dict[str, Any]]]
"""The files as they are now → an answer in the shape of `replay`'s. Raises `Rejected`, `Misconfigured` and `Unavailable`."""


def explain(
    trigger: Trigger = "",
    consumer: Consumer = "",
    session: Session = "",
    most: Annotated[int, typer.Option(min=0, help="How many breadcrumbs that are not on the page are listed; 0 = all.")] = 20,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show where each line of a context comes from and why, what was left out and why, and what the budget went to."""
    from builder.cli.receipt_tables import receipt_text
    from builder.cli.requests import look_up

    request = _request(trigger, consumer, session) | {"most": None if most == ALL else most}
    answer = asyncio.run(look_up(target(servers, workspace), "explain", request))
    show(answer, as_json, text=receipt_text(answer), note=_note(answer))


def why(
    breadcrumb: Annotated[str, typer.Argument(help="Id of the breadcrumb that is on the page, or is not.")],
    trigger: Annotated[str, typer.Option("--trigger", "-t", help="Id of the message that asked for the context.")] = "",
    consumer: Consumer = "",
    session: Session = "",
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Say in a sentence why a breadcrumb is on the page of a context, or why it is not."""
    from builder.cli.requests import look_up

    request = _request(trigger, consumer, session) | {"id": breadcrumb}
    answer = asyncio.run(look_up(target(servers, workspace), "why", request))
    show(answer, as_json, text=answer["sentence"] + "\n", note=_note(answer))


def replay(
    trigger: Trigger = "",
    consumer: Consumer = "",
    session: Session = "",
    profile: Annotated[str, typer.Option(help="Make the page with this profile or preset, or with this YAML file.")] = "",
    templates: Annotated[
        Path | None, typer.Option(help="Make the page with this folder of templates.", exists=True, file_okay=False)
    ] = None,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Build a context again from what is remembered and compare it with the published one; or see it made otherwise."""
    from builder.cli.receipt_tables import comparison_text
    from builder.cli.requests import look_up

    request = _request(trigger, consumer, session) | _files(profile, templates)
    answer = asyncio.run(look_up(target(servers, workspace), "replay", request))
    is_other = bool(profile or templates)
    show(answer, as_json, text=comparison_text(answer, is_other=is_other), note=_note(answer))
    if not is_other and answer["is_same"] is False:
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


def _request(trigger: str, consumer: str, session: str) -> dict[str, Any]:

    return {"trigger": trigger, "consumer": consumer, "session": optional_token(session)}


def _files(profile: str, templates: Path | None) -> dict[str, Any]:
    """The profile and the files of a request."""
    from builder.app.config import read_templates

    files = read_templates(templates) if templates else {}
    name = profile
    if profile.endswith((".yaml", ".yml")):
        file = Path(profile)
        name, files = file.stem, {**files, f"profiles/{file.stem}.yaml": text_of(file)}
    return {"profile": name, "files": files, "over_bundled": templates is not None}


def _note(answer: dict[str, Any]) -> str:
    return "\n".join(answer["notes"])


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
    from builder.cli.requests import open_source

    source = await stack.enter_async_context(open_source(target(servers, workspace)))
    request = names | {"session": optional_token(names["session"]), "over_bundled": True}

    async def make() -> dict[str, Any]:
        answer = await source.ask("replay", request | {"files": dict(read_templates(folder))})
        if before is None:
            return answer
        earlier = await source.ask("replay", request | {"files": dict(read_templates(before))})
        return answer | {"before": earlier["after"]}

    return make


async def _print(make: Preview, as_json: bool, page: bool, watched: Path | None) -> None:
    """Once, or after every edit of the watched folder."""
    from builder.app.config import file_stamps
    from builder.cli.receipt_tables import comparison_text

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
