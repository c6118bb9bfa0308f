"""Messages to a running service over NATS, its contexts, and what agents say to them."""

import asyncio
import sys
from contextlib import suppress
from typing import Any

from rich.console import Console
from rich.text import Text

from builder.cli.options import Target, say
from builder.client import BuilderError
from builder.client.sync import open_client
from builder.domain.control_text import visible
from builder.wire.json import one_line


async def send_and_wait(
    target: Target, session: str, text: str, person: dict[str, Any], consumer: str, timeout: float, as_json: bool
) -> dict[str, Any]:
    """Publish a user message; with a consumer, return the event of its context, and `answer` if an agent listens for it.

    person: `speaker` and `user_id`, each empty when there is none. timeout: seconds, of the context and of the answer. as_json:
    the page is not printed. Raises `Rejected` for an unknown consumer, and `Unavailable`, also when one of both did not come.
    """
    async with target.connect() as client:
        if not consumer:
            return {"id": await client.send_user_message(session, text, **person)}
        context = await client.ask(session, text, consumer=consumer, timeout=timeout, **person)
        sys.stdout.write("" if as_json else context.content)
        sys.stdout.flush()
        if not await is_heard(target, consumer):
            return context.event
        Console(stderr=True).rule(f"{consumer} answers")
        person |= {"message_id": context.trigger_event_id}
        return context.event | {"answer": await client.answer(session, text, consumer=consumer, timeout=timeout, **person)}


async def is_heard(target: Target, consumer: str) -> bool:
    """Whether an agent listens for the consumer, or is at work on a context of it; else it is told. Raises `Unavailable`."""
    from builder.app.health import list_subscriptions  # half a second that `watch` and a plain `send` do without

    subscriptions = await list_subscriptions(target.settings, target.servers)
    if any(each.is_of(target.workspace, consumer) and (each.listening or each.is_working) for each in subscriptions):
        return True
    say(f"nobody listens for {consumer!r}, so no answer comes; start its agent (`context-builder consumers` says who listens)")
    return False


async def watch_contexts(target: Target, consumer: str, as_json: bool) -> None:
    """Print contexts as they come: JSON lines, or the page under a line with its session and trigger."""
    async with target.connect() as client:
        async for context in client.contexts(consumer, durable=None):
            if as_json:
                sys.stdout.write(one_line(context.event) + "\n")
            else:
                Console(stderr=True).rule(f"{context.session_id}  {context.trigger_event_id}  {context.token_count} tokens")
                sys.stdout.write(context.content)
            sys.stdout.flush()


def talk(target: Target, session: str, person: dict[str, Any], consumer: str, timeout: float) -> None:
    """Send each line of standard input, and print what the agent says: tool calls on standard error, answers on standard output.

    timeout: seconds for each answer. An error of one message is told, and the next one is read. Raises `Rejected` for a consumer
    that no profile names, and `Unavailable` without a broker or a service.
    """
    steps, prompt = Console(stderr=True), "> " if sys.stdin.isatty() else ""
    with open_client(target.connect()) as client, suppress(EOFError, KeyboardInterrupt):
        client.consumer(consumer)
        asyncio.run(is_heard(target, consumer))
        while True:
            try:
                line = steps.input(prompt)
                for step in client.answer(session, line, consumer=consumer, timeout=timeout, **person) if line.strip() else ():
                    calls = [f"{call.get('tool')} {one_line(call.get('input'))}" for call in step.tool_requests]
                    console, style = (steps, "dim") if calls else (Console(), "")
                    console.print(Text(visible("\n".join(filter(None, (step.message, *calls)))), style), soft_wrap=True)
            except (BuilderError, UnicodeDecodeError) as error:
                say(f"context-builder: {error}")
