"""Commands that send to a running service, and `build`, which needs none."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from textwrap import shorten
from typing import Annotated

import typer

from builder.cli.options import AsJson, Servers, User, Workspace, progress_bars, say, settings, show, target, text_of
from builder.domain.control_text import visible
from builder.wire.session_names import session_token

Session = Annotated[str, typer.Option("--session", "-s", help="Session: one conversation, any text.")]
Consumer = Annotated[str, typer.Option("--consumer", "-c", help="Agent whose contexts are meant.")]
Speaker = Annotated[str, typer.Option(help="Name of the person.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds that an answer is waited for.")]


def send(
    text: Annotated[str, typer.Argument(help="What the user says.")],
    session: Session = "main",
    workspace: Workspace = "",
    servers: Servers = "",
    speaker: Speaker = "",
    user: User = "",
    wait: Annotated[str, typer.Option(help="Wait for this agent's context, and for its answer where it listens.")] = "",
    timeout: Timeout = 60,
    *,
    as_json: AsJson = False,
) -> None:
    """Send a message of a user; with --wait, show the context that it leads to, and what the agent answers."""
    from builder.cli.messages import send_and_wait

    person = {"speaker": speaker, "user_id": user}
    result = asyncio.run(send_and_wait(target(servers, workspace), session, text, person, wait, timeout, as_json))
    answer = visible(result["answer"]) + "\n" if "answer" in result else ""
    show(result, as_json, text=answer, note="" if wait else f"sent {result['id']} as {session}")


def chat(
    consumer: Consumer = "default",
    session: Session = "main",
    workspace: Workspace = "",
    servers: Servers = "",
    speaker: Speaker = "",
    user: User = "",
    timeout: Timeout = 300,
) -> None:
    """Talk with an agent: each line is a message, its tool calls and its answer follow. Ctrl-D ends it."""
    from builder.cli.messages import talk

    talk(target(servers, workspace), session, {"speaker": speaker, "user_id": user}, consumer, timeout)


def watch(consumer: Consumer = "default", workspace: Workspace = "", servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Show contexts as they are published, until Ctrl-C."""
    from builder.cli.messages import watch_contexts

    try:
        asyncio.run(watch_contexts(target(servers, workspace), consumer, as_json))
    except KeyboardInterrupt:
        say("stopped")


def build(
    file: Annotated[
        Path,
        typer.Argument(
            help="Events or chat messages, one JSON value a line, as `import` takes them; - for standard input.", allow_dash=True
        ),
    ],
    profile: Annotated[str, typer.Option(help="Profile or preset of the page.")] = "default",
    trigger: Annotated[str, typer.Option(help="Id of the breadcrumb to answer; default is the last user message.")] = "",
    workspace: Workspace = "",
    session: Session = "main",
    *,
    as_json: AsJson = False,
) -> None:
    """Events in, markdown out: the context of an agent, without NATS and without storing anything."""
    from builder.cli.build import build_once

    configuration = settings()
    lines, token = text_of(file).split("\n"), session_token(session)
    event = asyncio.run(build_once(configuration, lines, workspace or configuration.workspace, token, profile, trigger, say))
    show(event, as_json, text=event["content"])


def import_events(
    file: Annotated[
        Path,
        typer.Argument(
            help='One JSON value a line: a record, a chat message {"role", "content"}, or {"messages": [...]}.',
            exists=True,
            dir_okay=False,
        ),
    ],
    workspace: Workspace = "",
    session: Session = "main",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Publish old events or chats beside the running service: remembered, never answered. Nothing is imported twice."""
    from builder.app.operations.export import Import, import_file
    from builder.domain.errors import Rejected

    place, token = target(servers, workspace), session_token(session)

    async def work() -> Import:
        async with place.connect() as client:
            with progress_bars("the stream", "import") as (read, publish):
                return await import_file(place.settings, client, place.servers, token, file, read, publish)

    result = asyncio.run(work())
    system = result.system_messages
    left_out = f"; system messages left out: {system}, because a profile gives the system prompt" if system else ""
    names = shorten(", ".join(result.sessions), 200, placeholder=" …")
    done = f"{result.published} published, {result.skipped} had been before; sessions: {names}; {result.per_second:,.0f} a second"
    show(asdict(result), as_json, note=done + left_out)
    if refusals := result.refusals:
        more = f" (and {len(refusals) - 1} more)" if len(refusals) > 1 else ""
        raise Rejected(f"{len(refusals)} were not imported; {refusals[0]}{more}")


def compact(
    session: Annotated[str, typer.Argument(help="Session that is summarised.")],
    profile: Annotated[str, typer.Option(help="Profile or preset whose summaries are meant.")] = "default",
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    keep_user: Annotated[bool, typer.Option(help="Keep what people said word for word.")] = True,
    as_json: AsJson = False,
) -> None:
    """Summarise all but the newest units of a session at once; the messages themselves stay where they are."""
    from builder.app.operations.summaries import compact_session

    place, token = target(servers, workspace), session_token(session)
    report = asyncio.run(compact_session(place.settings, place.servers, place.workspace, token, profile, keep_user))
    note = f"{report.units} units of {report.tokens_before} tokens are now {report.tokens_after}: summary {report.summary}"
    show(asdict(report), as_json, note=note if report.units else f"nothing was summarised: {report.reason}")
