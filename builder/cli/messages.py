"""Messages to a running service over NATS, and its contexts."""

import sys
from typing import Any

from rich.console import Console

from builder.cli.options import Target
from builder.wire.json import one_line


async def send_and_wait(
    target: Target, session: str, text: str, person: dict[str, Any], consumer: str, timeout: float
) -> dict[str, Any]:
    """Publish a user message; with a consumer, wait for its context and return the event.

    person: `speaker` and `user_id`, each empty when there is none. timeout: seconds.
    Raises `Rejected` for a consumer that no profile names, and `Unavailable`, also when no context came.
    """
    async with target.connect() as client:
        if not consumer:
            return {"id": await client.send_user_message(session, text, **person)}
        return (await client.ask(session, text, consumer=consumer, timeout=timeout, **person)).event


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
