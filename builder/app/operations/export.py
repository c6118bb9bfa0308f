"""Sessions exported from the stream and imported as replays; a repeated import adds what is missing."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from builder.adapters.nats.topology import BREADCRUMBS
from builder.app.broker import stored
from builder.app.settings import Settings
from builder.client import Client
from builder.domain.breadcrumb import NO_SESSION, ORIGIN, StreamMessage
from builder.domain.errors import Rejected
from builder.remember.decode import readable
from builder.wire.chat_lines import chat_lines
from builder.wire.records import Outgoing, fingerprint, fingerprints, line_of, read_lines
from builder.wire.subjects import message_id, parse_breadcrumb_subject, session_text

EPOCH = datetime.fromtimestamp(0, UTC)
Progress = Callable[[int, int], None]
"""(sequence, last sequence)"""


@dataclass(slots=True)
class Export:
    """Counts of an export."""

    lines: int = 0
    secrets: int = 0
    unreadable: int = 0
    """The service rejects them too."""


@dataclass(slots=True)
class StreamContent:
    """Stored messages of a file's sessions."""

    ids: dict[str, set[bytes]] = field(default_factory=dict)
    """Message id → fingerprints."""
    tombstones: dict[tuple[str, str, str], set[str]] = field(default_factory=dict)
    """Workspace, session, removed id → message ids of tombstones."""
    passed: set[str] = field(default_factory=set)
    """Looked-up message ids of the file."""

    def has(self, event: Outgoing) -> bool:
        """Whether it was published or removed before. Raises `Rejected` for other content under its id."""
        self.passed.add(event.message_id)
        if self._removed(event):
            return True
        there = self.ids.get(event.message_id)
        if there and fingerprint(event) not in there:
            raise Rejected(f"the stream has {event.message_id} with other content; take another id, or publish the next version")
        return bool(there)

    def _removed(self, event: Outgoing) -> bool:
        crumb = readable(event.arrive(ORIGIN, EPOCH))
        if crumb is None:
            return False
        keys = [(crumb.workspace, session, crumb.id) for session in (crumb.session, NO_SESSION)]
        return any(self.tombstones.get(key, set()) - self.passed for key in keys)


async def export_session(
    settings: Settings,
    servers: str,
    workspace: str,
    session: str,
    write: Callable[[str], object],
    progress: Progress,
    ids: frozenset[tuple[str, str]] | None = None,
) -> Export:
    """Write sessions (EVERY_SESSION = all) as JSON lines in stream order.

    ids: only these and their sessions' texts. Raises `Unavailable`.
    """
    done, written = Export(), set[str]()
    async for arrival in _walk(settings, servers, ((workspace, session),), progress):
        crumb = readable(arrival)
        if crumb is None:
            done.unreadable += ids is None
            continue
        identity = message_id(crumb.workspace, crumb.id, crumb.version)
        if identity in written:
            continue  # the service took the first one, whose time an import keeps
        written.add(identity)
        if ids is not None and (session_text(crumb.session), crumb.id) not in ids:
            continue
        if crumb.kind == "secret":
            done.secrets += 1
            continue
        write(line_of(arrival) + "\n")
        done.lines += 1
    return done


async def stream_content(settings: Settings, servers: str, events: Sequence[Outgoing], progress: Progress) -> StreamContent:
    """Raises `Unavailable`."""
    addresses = {parse_breadcrumb_subject(event.subject) for event in events}
    sessions = {(address.workspace, session) for address in addresses for session in (address.session, NO_SESSION)}
    message_ids = {event.message_id for event in events}
    content = StreamContent()
    async for arrival in _walk(settings, servers, sorted(sessions), progress):
        crumb = readable(arrival)
        if crumb is None:
            continue
        identity = message_id(crumb.workspace, crumb.id, crumb.version)
        if identity in message_ids:
            content.ids.setdefault(identity, set()).update(fingerprints(arrival))
        if crumb.kind == "tombstone":
            content.tombstones.setdefault((crumb.workspace, crumb.session, crumb.removes), set()).add(identity)
    return content


@dataclass(slots=True)
class Import:
    """Outcome of a file's events."""

    published: int = 0
    skipped: int = 0
    """In the stream before, or forgotten since."""
    system_messages: int = 0
    """Left out: a profile gives the system prompt."""
    sessions: list[str] = field(default_factory=list)
    """Events may name their own."""
    per_second: float = 0.0
    refusals: list[str] = field(default_factory=list)


async def import_file(
    settings: Settings, client: Client, servers: str, session: str, file: Path, look: Progress, step: Callable[[int, int], None]
) -> Import:
    """Publish missing events of a file. session: default of its lines. look: called during the read. step: (event, events)."""
    lines = file.read_text("utf-8").split("\n")  # U+2028 may be inside a JSON string
    chat = chat_lines(lines, session)
    events = list(read_lines(chat.lines, client.workspace, session))
    result = Import(system_messages=chat.system_messages)
    stream = await stream_content(settings, servers, events, look)
    result.sessions = sorted({session_text(parse_breadcrumb_subject(event.subject).session) for event in events})
    start = monotonic()
    for number, event in enumerate(events, 1):
        try:
            result.skipped += stream.has(event) or (await client.publish(event, replay=True)).duplicate
        except Rejected as error:
            result.refusals.append(f"event {number}: {error}")
        step(number, len(events))
    result.per_second = len(events) / max(monotonic() - start, 1e-9)
    result.published = len(events) - result.skipped - len(result.refusals)
    return result


async def _walk(
    settings: Settings, servers: str, sessions: Iterable[tuple[str, str]], progress: Progress
) -> AsyncIterator[StreamMessage]:
    async with stored(settings, servers, BREADCRUMBS) as (stream, last):
        for workspace, session in sessions:
            async for arrival in stream.walk(workspace, session, ORIGIN, last.next):
                yield arrival
                progress(arrival.place.sequence, last.sequence)
