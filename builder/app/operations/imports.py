"""Events of a file, or chat messages, into the stream, as replays; an interrupted import goes on where it ended."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from builder.app.operations.export import Progress, stream_content
from builder.app.settings import Settings
from builder.client import Client
from builder.domain.errors import Rejected
from builder.wire.chat_lines import chat_lines
from builder.wire.records import read_lines
from builder.wire.session_names import session_text
from builder.wire.subjects import parse_breadcrumb_subject

SAVE_EVERY = 100
"""Events between two notes of the progress."""


@dataclass(slots=True)
class Import:
    """What became of a file's events."""

    published: int = 0
    skipped: int = 0
    """Published by an earlier run, in the stream before, or forgotten since."""
    system_messages: int = 0
    """Chat messages that were left out because a profile gives the system prompt."""
    sessions: list[str] = field(default_factory=list)
    """Those of the file's events, which may name their own."""
    per_second: float = 0.0
    """Events that were looked at or published in a second."""
    refusals: list[str] = field(default_factory=list)
    """A sentence for each event that is not in the stream, e.g. because its id has other content."""


async def import_file(
    settings: Settings, client: Client, servers: str, session: str, file: Path, look: Progress, step: Callable[[int, int], None]
) -> Import:
    """Publish the file's events. The next run begins at the first refusal.

    session: of events that name none. look: called while the stream is read. step: called with (event, events).
    """
    lines = file.read_text("utf-8").split("\n")  # U+2028 may stand inside a JSON string
    chat = chat_lines(lines, session)
    events = list(read_lines(chat.lines, client.workspace, session))
    note = _note(settings, file, client.workspace, session, await client.stream_created())
    done = int(note.read_text("utf-8")) if note.exists() else 0
    result = Import(skipped=done, system_messages=chat.system_messages)
    stream = await stream_content(settings, servers, events[done:], look)
    stream.passed.update(event.message_id for event in events[:done])
    result.sessions = sorted({session_text(parse_breadcrumb_subject(event.subject).session) for event in events})
    start = monotonic()
    for number, event in enumerate(events[done:], done + 1):
        try:
            result.skipped += stream.has(event) or (await client.publish(event, replay=True)).duplicate
        except Rejected as error:
            result.refusals.append(f"event {number}: {error}")
        step(number, len(events))
        if not result.refusals and (number % SAVE_EVERY == 0 or number == len(events)):
            _save(note, number)
    result.per_second = (len(events) - done) / max(monotonic() - start, 1e-9)
    result.published = len(events) - result.skipped - len(result.refusals)
    return result


def _save(note: Path, number: int) -> None:
    """Atomic: a killed process leaves no empty note."""
    part = note.with_suffix(".part")
    part.write_text(str(number), "utf-8")
    part.replace(note)


def _note(settings: Settings, file: Path, workspace: str, session: str, stream: str) -> Path:
    """The note on the progress of this file into this stream."""
    key = hashlib.sha256(f"{workspace}\0{session}\0{stream}\0".encode() + file.read_bytes()).hexdigest()[:32]
    folder = settings.data_dir.expanduser() / "imports"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / key
