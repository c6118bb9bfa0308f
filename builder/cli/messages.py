"""Messages to a running service over NATS, its contexts, and what agents say to them."""

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from builder.app.health import list_subscriptions
from builder.cli.options import Target, say
from builder.client import BuilderError, ReceivedContext, Response
from builder.client.sync import open_client
from builder.domain.control_text import visible
from builder.wire.json import one_line

NOBODY = "nobody listens for {!r}, so no answer comes; start its agent (`context-builder consumers` says who listens)"


async def send_message(target: Target, session: str, text: str, person: dict[str, Any]) -> str:
    """Publish a user message; returns its id. person: `speaker` and `user_id`, each empty when there is none."""
    async with target.connect() as client:
        return await client.send_user_message(session, text, **person)


async def send_and_wait(
    target: Target, session: str, text: str, person: dict[str, Any], consumer: str, timeout: float, as_json: bool
) -> None:
    """Publish a user message, and print the context that it leads to, then what an agent that listens says in the end.

    person: as in `send_message`. timeout: seconds, of the context and of the answer.
    Raises `Rejected` for a consumer that no profile names, and `Unavailable`, also when no context or no answer came.
    """
    async with target.connect() as client:
        context = await client.ask(session, text, consumer=consumer, timeout=timeout, **person)
        if not as_json:
            _print_page(context)
        answer = None
        if await _is_heard(target, consumer):
            identity = context.trigger_event_id
            answer = await client.answer(session, text, consumer=consumer, timeout=timeout, message_id=identity, **person)
        if as_json:
            sys.stdout.write(json.dumps(context.event | {"answer": answer}, ensure_ascii=False, indent=2) + "\n")
        elif answer is None:
            say(NOBODY.format(consumer))
        else:
            Console(stderr=True).rule(f"{consumer} answers")
            sys.stdout.write(visible(answer) + "\n")


async def watch_contexts(target: Target, consumer: str, as_json: bool) -> None:
    """Print contexts as they come: JSON lines, or the page under a line with its session and trigger."""
    async with target.connect() as client:
        async for context in client.contexts(consumer, durable=None):
            if as_json:
                sys.stdout.write(one_line(context.event) + "\n")
                sys.stdout.flush()
            else:
                Console(stderr=True).rule(f"{context.session_id}  {context.trigger_event_id}  {context.token_count} tokens")
                _print_page(context)


def talk(target: Target, session: str, person: dict[str, Any], consumer: str, timeout: float) -> None:
    """Send each line of standard input and print what the agent says: steps beside the answers, which are standard output.

    timeout: seconds for each answer. An error of one message is told, and the next one is read. Raises `Rejected` for a consumer
    that no profile names, and `Unavailable` without a broker.
    """
    with open_client(target.connect()) as client:
        if warning := client.check_consumer(consumer):
            say(warning)
        elif not asyncio.run(_is_heard(target, consumer)):
            say(NOBODY.format(consumer))
        for line in _lines():
            try:
                for step in client.answer(session, line, consumer=consumer, timeout=timeout, **person):
                    _print_step(step)
            except BuilderError as error:
                say(f"context-builder: {error}")


def _lines() -> Iterator[str]:
    """The lines of standard input that say something, after a prompt where a person writes them; until its end, or Ctrl-C."""
    console, prompt = Console(stderr=True), "> " if sys.stdin.isatty() else ""
    while True:
        try:
            line = console.input(prompt).strip()
        except EOFError:
            return
        if line:
            yield line


def _print_step(step: Response) -> None:
    """An answer as markdown in a terminal, else as it is; a step with tool calls in dim lines on standard error."""
    calls = [f"{call.get('tool')} {one_line(call.get('input'))}" for call in step.tool_requests]
    for line in filter(None, (step.message, *calls)) if calls else ():
        Console(stderr=True).print(Text(visible(line), style="dim"), soft_wrap=True)
    console, text = Console(), visible(step.message)
    if not calls:
        console.print(Markdown(text) if console.is_terminal else Text(text), soft_wrap=not console.is_terminal)


async def _is_heard(target: Target, consumer: str) -> bool:
    """Whether an agent listens for the consumer, or is at work on a context of it. Raises `Unavailable`."""
    subscriptions = await list_subscriptions(target.settings, target.servers)
    return any(each.is_of(target.workspace, consumer) and (each.listening or each.is_working) for each in subscriptions)


def _print_page(context: ReceivedContext) -> None:
    sys.stdout.write(context.content)
    sys.stdout.flush()
