"""Sessions exported from the stream and imported as replays; a repeated import adds what is missing."""

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from time import monotonic

from builder.adapters.nats.topology import BREADCRUMBS
from builder.app.broker import stored
from builder.app.settings import Settings
from builder.chat_files.reader import FileContent, FileEvent, Refusal, refusal_lines
from builder.client import Client
from builder.client.requests import NoService
from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected
from builder.domain.identity import Identity
from builder.language.names import DEFAULT_NAMES
from builder.remember.decode import decode, readable
from builder.wire.records import fingerprint, fingerprints, line_of
from builder.wire.subjects import message_id, parse_breadcrumb_subject, session_text
from builder.worker.log import STREAM_END

Progress = Callable[[int, int], None]
"""(sequence, last sequence)"""
BATCH = 1_000
"""Events of an import that are held as breadcrumbs at once."""
ALONE = "no worker runs, so nobody knows which ids are closed or taken: their lines will become dead letters"


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
    words: dict[str, set[int]] = field(default_factory=dict)
    """Message id of a chat message → hashes of the words and calls alone."""
    tombstones: dict[tuple[str, str, str], set[str]] = field(default_factory=dict)
    """Workspace, session, removed id → message ids of tombstones."""
    passed: set[str] = field(default_factory=set)
    """Looked-up message ids of the file."""

    def has(self, each: FileEvent, crumb: Breadcrumb) -> bool:
        """Whether it was published or removed before. Raises `Rejected` for other content under its id.

        A chat message is known by its words and calls, and by the id that an earlier release gave it.
        """
        event = each.event
        self.passed.add(event.message_id)
        names, sessions = {crumb.id, each.former} - {""}, (crumb.session, NO_SESSION)
        keys = [(crumb.workspace, session, name) for session in sessions for name in names]
        if any(self.tombstones.get(key, set()) - self.passed for key in keys):
            return True
        there = self.ids.get(event.message_id)
        if there and fingerprint(event) in there:
            return True
        if each.former and self.words and self._has_words(each, crumb):
            return True
        if there:
            raise Rejected(f"the stream has {event.message_id} with other content; take another id, or publish the next version")
        return False

    def _has_words(self, each: FileEvent, crumb: Breadcrumb) -> bool:
        nobody = replace(crumb, speaker=DEFAULT_NAMES.get(crumb.role, crumb.speaker))  # an export may name speakers by now
        keys = _words_keys(crumb) | _words_keys(nobody)
        names = (each.event.message_id, message_id(crumb.workspace, each.former, 1))
        return any(not keys.isdisjoint(self.words.get(name, ())) for name in names)


def _chat_ids(events: Iterable[FileEvent]) -> frozenset[str]:
    """Message ids of chat messages, those of earlier releases too; "" so that it is never empty."""
    ids = {""}
    for each in events:
        if each.former:
            ids.update((each.event.message_id, message_id(each.event.subject.split(".", 2)[1], each.former, 1)))
    return frozenset(ids)


def _words_keys(crumb: Breadcrumb) -> set[int]:
    """Of its words and calls, by this speaker; and by nobody in particular where it names none."""
    speakers = {crumb.speaker, ""} if crumb.speaker == DEFAULT_NAMES.get(crumb.role) else {crumb.speaker}
    return {hash((crumb.session, crumb.schema, each, crumb.text, crumb.calls, crumb.call_signatures)) for each in speakers}


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


async def stream_content(settings: Settings, servers: str, events: Sequence[FileEvent], progress: Progress) -> StreamContent:
    """Raises `Unavailable`."""
    addresses = {parse_breadcrumb_subject(each.event.subject) for each in events}
    sessions = {(address.workspace, session) for address in addresses for session in (address.session, NO_SESSION)}
    message_ids = {each.event.message_id for each in events}
    content, chat_ids = StreamContent(), frozenset[str]()
    async for arrival in _walk(settings, servers, sorted(sessions), progress):
        crumb = readable(arrival)
        if crumb is None:
            continue
        chat_ids = chat_ids or _chat_ids(events)
        identity = message_id(crumb.workspace, crumb.id, crumb.version)
        if identity in message_ids:
            content.ids.setdefault(identity, set()).update(fingerprints(arrival))
        if identity in chat_ids:
            content.words.setdefault(identity, set()).update(_words_keys(crumb))
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
    notes: list[str] = field(default_factory=list)
    """What else happened to the file's lines."""
    refusals: list[Refusal] = field(default_factory=list)


async def import_file(
    settings: Settings,
    client: Client,
    servers: str,
    content: FileContent,
    look: Progress,
    step: Callable[[int, int], None],
    *,
    strict: bool = False,
) -> Import:
    """Publish what the stream does not have of a file's events, if the service takes them.

    look: called during the read. step: (event, events), after each BATCH and at the end. strict: what is refused refuses the
    whole. Raises `Rejected` then, and `Unavailable`.
    """
    events, max_bytes = content.events, settings.worker.max_body_bytes
    if strict:
        deque(_read(events, max_bytes, content.refusals), maxlen=0)
        if content.refusals:
            first = "; ".join(refusal_lines(content.refusals, most=1))
            raise Rejected(f"nothing was imported, because of --strict; {first}")
    result = Import(system_messages=content.system_messages, notes=content.notes(), refusals=content.refusals)
    stream = await stream_content(settings, servers, events, look)
    result.sessions = sorted({session_text(parse_breadcrumb_subject(each.event.subject).session) for each in events})
    identities = dict[str, Identity]()
    reading, start = _read(events, max_bytes, result.refusals), monotonic()
    while crumbs := list(islice(reading, BATCH)):
        identities |= await _identities(client, {crumb.id for _, crumb in crumbs} - identities.keys(), result.notes)
        for each, crumb in crumbs:
            try:
                is_there = stream.has(each, crumb)
                if not is_there:
                    identities[crumb.id] = _admit(identities.get(crumb.id, Identity()), crumb)
                    is_there = (await client.publish(each.event, replay=True)).duplicate
                result.skipped += is_there
                result.published += not is_there
            except Rejected as error:
                result.refusals.append(Refusal(each.line, str(error)))
        step(crumbs[-1][1].place.sequence, len(events))
    step(len(events), len(events))
    result.per_second = len(events) / max(monotonic() - start, 1e-9)
    return result


def _read(events: Iterable[FileEvent], max_bytes: int, refusals: list[Refusal]) -> Iterator[tuple[FileEvent, Breadcrumb]]:
    """Those that the service takes, as coming after the stream's end; the others become refusals."""
    now = datetime.now(UTC)
    for number, each in enumerate(events, 1):
        try:
            yield each, decode(each.event.arrive(Place(STREAM_END.incarnation, number), now), max_bytes)
        except Rejected as error:
            refusals.append(Refusal(each.line, str(error)))


async def _identities(client: Client, ids: Iterable[str], notes: list[str]) -> dict[str, Identity]:
    """What the service has under these ids; without one a note says so."""
    try:
        return await client.identities(ids)
    except NoService:
        notes += () if ALONE in notes else (ALONE,)
        return {}


def _admit(there: Identity, crumb: Breadcrumb) -> Identity:
    """The identity with one more. Raises `Rejected`."""
    if there.is_closed(crumb):
        raise Rejected(f"id {crumb.id!r} is closed: it was forgotten, or deleted; take another id")
    if reason := there.conflict(crumb):
        raise Rejected(reason)
    return there.with_crumb(crumb, crumb.id)


async def _walk(
    settings: Settings, servers: str, sessions: Iterable[tuple[str, str]], progress: Progress
) -> AsyncIterator[StreamMessage]:
    async with stored(settings, servers, BREADCRUMBS) as (stream, last):
        for workspace, session in sessions:
            async for arrival in stream.walk(workspace, session, ORIGIN, last.next):
                yield arrival
                progress(arrival.place.sequence, last.sequence)
