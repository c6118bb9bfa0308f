"""Messages to a running service over NATS, and its contexts."""

import asyncio
import contextlib
import json
import sys
import uuid
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.console import Console

from builder.cli.options import Target
from builder.client import Unavailable


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A person's message."""

    text: str
    speaker: str = ""
    """Display name; empty = none."""
    user_id: str = ""
    """Who the person is; empty = unknown."""


async def send_and_wait(target: Target, session: str, message: UserMessage, consumer: str, timeout: float) -> dict[str, Any]:
    """Publish a user message; with a consumer, wait for its context and return the event.

    timeout: seconds. Raises `Rejected` for a consumer that no profile names, and `Unavailable`, also when no context came.
    """
    async with target.connect() as client:
        identity = str(uuid.uuid4())
        send = partial(
            client.send_user_message,
            *(session, message.text),
            speaker=message.speaker,
            user_id=message.user_id,
            message_id=identity,
        )
        if not consumer:
            return {"id": await send()}
        # The subscription exists before the message, so the context cannot be missed.
        async with client.subscribed(consumer, durable=None, only_new=True) as contexts:
            await send()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    async for context in contexts:
                        if context.trigger_event_id == identity:
                            return context.event
    raise Unavailable(
        f"{identity} was sent, and no context for {consumer!r} came within {timeout:g} s; run `context-builder doctor`"
    )


async def watch_contexts(target: Target, consumer: str, as_json: bool) -> None:
    """Print contexts as they come: JSON lines, or the page under a line with its session and trigger."""
    async with target.connect() as client:
        async for context in client.contexts(consumer, durable=None, only_new=True):
            if as_json:
                sys.stdout.write(json.dumps(context.event, ensure_ascii=False) + "\n")
            else:
                Console(stderr=True).rule(f"{context.session_id}  {context.trigger_event_id}  {context.token_count} tokens")
                sys.stdout.write(context.content)
            sys.stdout.flush()
