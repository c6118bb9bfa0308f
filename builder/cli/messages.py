"""Talking to a running service over NATS."""

import asyncio
import contextlib
import hashlib
import json
import sys
import uuid
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from builder.app import client_options, stream_content
from builder.app.settings import Settings
from builder.client import Rejected, Unavailable, connect
from builder.wire.records import read_lines

SAVE_EVERY = 100


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person says. speaker: the display name. user_id: who the person is. Empty = not given."""

    text: str
    speaker: str = ""
    user_id: str = ""


async def send_and_wait(
    settings: Settings, servers: str, workspace: str, session: str, message: UserMessage, consumer: str, timeout: float
) -> dict[str, Any]:
    """Publish a user message; with a consumer, wait for its context and return the event.

    timeout: seconds. Raises `Rejected` for a consumer that no profile names, and `Unavailable`, also when no context came.
    """
    async with connect(servers, workspace, **client_options(servers, settings)) as client:
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
        # Listening comes first: what is heard from now on is little, and the answer is in it.
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


async def watch_contexts(settings: Settings, servers: str, workspace: str, consumer: str, as_json: bool) -> None:
    """Print contexts as they come: JSON lines, or the page under a line that says whose it is."""
    async with connect(servers, workspace, **client_options(servers, settings)) as client:
        async for context in client.contexts(consumer, durable=None, only_new=True):
            if as_json:
                sys.stdout.write(json.dumps(context.event, ensure_ascii=False) + "\n")
            else:
                Console(stderr=True).rule(f"{context.session_id}  {context.trigger_event_id}  {context.token_count} tokens")
                sys.stdout.write(context.content)
            sys.stdout.flush()


async def import_file(settings: Settings, servers: str, workspace: str, session: str, file: Path) -> dict[str, Any]:
    """Publish the file's events as replays, going on where an earlier run ended.

    Returns {published, skipped, refusals}. skipped: what an earlier run published, what the stream had before, and what was
    forgotten since. refusals: a sentence for each event that is not in the stream now, e.g. because something else stands under
    its id; the next run begins at the first of them.
    """
    lines = file.read_text("utf-8").split("\n")  # U+2028 may stand inside a JSON string
    events = list(read_lines(lines, workspace, session))
    async with connect(servers, workspace, **client_options(servers, settings)) as client:
        note = _note(settings, file, workspace, session, await client.stream_created())
        done = skipped = int(note.read_text("utf-8")) if note.exists() else 0
        refusals: list[str] = []
        with Progress(console=Console(stderr=True)) as progress:
            look = progress.add_task("what is there", total=None)
            held = await stream_content(
                settings, servers, events[done:], lambda now, end: progress.update(look, completed=now, total=end)
            )
            progress.remove_task(look)
            held.passed.update(event.message_id for event in events[:done])
            task = progress.add_task("import", total=len(events), completed=done)
            for number, event in enumerate(events[done:], done + 1):
                try:
                    skipped += held.has(event) or (await client.publish(event, replay=True)).duplicate
                except Rejected as error:
                    refusals.append(f"event {number}: {error}")
                progress.update(task, completed=number)
                if not refusals and (number % SAVE_EVERY == 0 or number == len(events)):
                    _save(note, number)
    return {"published": len(events) - skipped - len(refusals), "skipped": skipped, "refusals": refusals}


def _save(note: Path, number: int) -> None:
    """Whole or not at all: whoever is killed here leaves no empty note."""
    part = note.with_suffix(".part")
    part.write_text(str(number), "utf-8")
    part.replace(note)


def _note(settings: Settings, file: Path, workspace: str, session: str, stream: str) -> Path:
    """Where the progress of this file into this stream is kept."""
    key = hashlib.sha256(f"{workspace}\0{session}\0{stream}\0".encode() + file.read_bytes()).hexdigest()[:32]
    folder = settings.data_dir.expanduser() / "imports"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / key
