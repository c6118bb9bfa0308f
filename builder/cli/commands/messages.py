"""Commands that send to a running service and show what it publishes."""

import asyncio
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from builder.app.console import AsJson, say, show
from builder.cli.options import Servers, Session, Target, User, Workspace, target_of
from builder.domain.control_text import visible
from builder.domain.errors import BuilderError
from builder.domain.json_text import one_line
from builder.domain.json_values import JsonObject

if TYPE_CHECKING:
    from builder.client import ReceivedContext

Consumer = Annotated[str, typer.Option("--consumer", "-c", help="Agent whose contexts to show.")]
Speaker = Annotated[str, typer.Option(help="Name of the user.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds to wait for an answer.")]


def send(
    text: Annotated[str, typer.Argument(help="What the user says.")],
    session: Session = "main",
    workspace: Workspace = "",
    servers: Servers = "",
    speaker: Speaker = "",
    user: User = "",
    wait: Annotated[str, typer.Option(help="Wait for this agent's context, and for its answer if it listens.")] = "",
    timeout: Timeout = 60,
    *,
    as_json: AsJson = False,
) -> None:
    """Send a message of a user; with --wait, show the context that it leads to, and what the agent answers."""
    person = {"speaker": speaker, "user_id": user}
    result = asyncio.run(_send_and_wait(target_of(servers, workspace), session, text, person, wait, timeout, as_json))
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
    _talk(target_of(servers, workspace), session, {"speaker": speaker, "user_id": user}, consumer, timeout)


def watch(consumer: Consumer = "default", workspace: Workspace = "", servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Show contexts as they are published, until Ctrl-C."""
    try:
        asyncio.run(_watch_contexts(target_of(servers, workspace), consumer, as_json))
    except KeyboardInterrupt:
        say("stopped")


async def _send_and_wait(
    target: Target, session: str, text: str, person: JsonObject, consumer: str, timeout: float, as_json: bool
) -> JsonObject:
    """Publish a user message; with a consumer, return its context's event, and `answer` if an agent listens.

    person: `speaker` and `user_id`, "" = none. timeout: seconds, for context and answer each. Raises `Rejected` for an unknown
    consumer, `Unavailable`.
    """
    async with target.connect() as client:
        if not consumer:
            return {"id": await client.send_user_message(session, text, **person)}
        context = await client.ask(session, text, consumer=consumer, timeout=timeout, **person)
        sys.stdout.write("" if as_json else context.content)
        sys.stdout.flush()
        if not as_json:
            _say_omissions(context)
        if not await _is_heard(target, consumer):
            return context.event
        _rule(f"{consumer} answers")
        person |= {"message_id": context.trigger_event_id}
        return context.event | {"answer": await client.answer(session, text, consumer=consumer, timeout=timeout, **person)}


async def _is_heard(target: Target, consumer: str) -> bool:
    """Says so if nobody listens. Raises `Unavailable`."""
    from builder.app.subscriptions import list_subscriptions

    subscriptions = await list_subscriptions(target.settings, target.servers)
    if any(each.is_of(target.workspace, consumer) and (each.listening or each.is_working) for each in subscriptions):
        return True
    say(f"nobody listens for {consumer!r}, so no answer comes; start its agent (`context-builder consumers` says who listens)")
    return False


def _rule(title: str) -> None:
    """A line on standard error."""
    from rich.console import Console  # what draws nothing does without

    Console(stderr=True).rule(title)


async def _watch_contexts(target: Target, consumer: str, as_json: bool) -> None:
    async with target.connect() as client:
        async for context in client.contexts(consumer, durable=None):
            if as_json:
                sys.stdout.write(one_line(context.event) + "\n")
            else:
                _rule(f"{context.session_id}  {context.trigger_event_id}  {context.token_count} tokens")
                sys.stdout.write(context.content)
                _say_omissions(context)
            sys.stdout.flush()


def _say_omissions(context: "ReceivedContext") -> None:
    """What the page leaves out, and the command that says why."""
    from builder.client.omissions import likeliest

    first, page = likeliest(context.event), f"{context.trigger_event_id} -c {context.consumer_id}"
    if context.omission_note:
        say(f"{context.omission_note}; context-builder {f'why {first.id} -t' if first else 'explain'} {page}")


def _talk(target: Target, session: str, person: JsonObject, consumer: str, timeout: float) -> None:
    """Send each line of standard input; print tool calls on standard error, answers on standard output.

    timeout: seconds per answer. An error of one message is printed, and the next line is read. Raises `Rejected`, `Unavailable`.
    """
    from rich.console import Console
    from rich.text import Text

    from builder.client.sync import open_client

    steps, prompt = Console(stderr=True), "> " if sys.stdin.isatty() else ""
    with open_client(target.connect()) as client, suppress(EOFError, KeyboardInterrupt):
        client.consumer(consumer)
        asyncio.run(_is_heard(target, consumer))
        while True:
            try:
                line = steps.input(prompt)
                for step in client.answer(session, line, consumer=consumer, timeout=timeout, **person) if line.strip() else ():
                    calls = [f"{call.get('tool')} {one_line(call.get('input'))}" for call in step.tool_requests]
                    console, style = (steps, "dim") if calls else (Console(), "")
                    console.print(Text(visible("\n".join(filter(None, (step.message, *calls)))), style), soft_wrap=True)
            except (BuilderError, UnicodeDecodeError) as error:
                say(f"context-builder: {error}")
