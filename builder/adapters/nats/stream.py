"""`Stream` on JetStream: short gaps by single gets, long ones by an ephemeral ordered consumer."""

import base64
import contextlib
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import UTC

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import ConsumerInfo, RawStreamMsg, StreamState
from typing_extensions import override

from builder.adapters.nats.connection import believe_only_the_server, optional, translated
from builder.adapters.nats.delivery import EPOCH, arrival_of, is_replay
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS, walk_from
from builder.connection.names import DEFAULT, FORGOTTEN_HEADER, TIMES_HEADER, Installation, plain_subject
from builder.domain.breadcrumb import MOVE, NO_SESSION, ORIGIN, TOMBSTONE, Place, StreamMessage
from builder.domain.errors import AlreadyPublished, Unavailable
from builder.domain.json_values import clean, parse
from builder.domain.recall import EVERY_SESSION
from builder.ports.archive import EVERY_ID, Archive, Sighting
from builder.ports.contexts import PublishedContexts, PublishedEvent
from builder.ports.stream import Stream
from builder.wire.subjects import CONTEXTS as CONTEXTS_SUBJECT
from builder.wire.subjects import context_subject, session_subject

MAX_SINGLE_GETS = 64
"""Breadcrumbs read one by one (0.3 ms each) before a consumer is worth its price."""
FETCH_MESSAGES = 32
"""nats-py drops what comes above 256 MiB: so many of the largest messages stay below that."""
FETCH_SECONDS = 5.0


class NatsStream(Stream):
    """A stream of the broker, BREADCRUMBS unless named otherwise."""

    def __init__(
        self,
        js: JetStreamContext,
        incarnation: Callable[[], int],
        kind: str = BREADCRUMBS,
        installation: Installation = DEFAULT,
    ) -> None:
        """incarnation: of the stream as it is now. kind: of the stream, so that dead letters are read the same way."""
        believe_only_the_server()
        self._js = js
        self._name = installation.stream(kind)
        self.installation = installation
        self._incarnation = incarnation

    @property
    def incarnation(self) -> int:
        """The incarnation of the stream as it is now."""
        return self._incarnation()

    async def first(self) -> Place:
        """Place of the oldest breadcrumb that the stream still holds. Raises `Unavailable`."""
        return Place(self.incarnation, (await self._state()).first_seq)

    @override
    async def last(self) -> Place:
        return Place(self.incarnation, (await self._state()).last_seq)

    async def _state(self) -> StreamState:
        with translated("reading the stream's state"):
            return (await self._js.stream_info(self._name)).state

    @override
    def walk(self, workspace: str, session: str, after: Place, until: Place, schema: str = "") -> AsyncIterator[StreamMessage]:
        reached = after.sequence if after.incarnation == self.incarnation else 0
        return self._walk(session_subject(workspace, session, schema or ">"), reached, until)

    def everything(self, reached: int, until: Place) -> AsyncIterator[StreamMessage]:
        """All breadcrumbs of all workspaces behind the sequence `reached` and before `until`, for `reindex`."""
        return self._walk("breadcrumbs.>", reached, until)

    @override
    def tombstones(self, after: Place, until: Place) -> AsyncIterator[StreamMessage]:
        reached = after.sequence if after.incarnation == self.incarnation else 0
        return self._walk(f"breadcrumbs.*.*.{TOMBSTONE}", reached, until)

    async def _walk(self, subject: str, reached: int, until: Place) -> AsyncIterator[StreamMessage]:
        """Ends with the word of the stream's leader: the consumer may sit on a replica that lags behind."""
        full = self.installation.subject(subject)
        while True:
            for _ in range(MAX_SINGLE_GETS):
                # Not direct: any replica would answer, one that lags behind too, and a header `Status` would be believed.
                get = self._js.get_msg(self._name, seq=reached + 1, subject=full, next=True)
                message = await optional(f"reading {full}", get)
                arrival = self._arrival(message) if message else None
                if arrival is None or arrival.place >= until:
                    return
                yield arrival
                reached = arrival.place.sequence
            async for arrival in self.follow(subject, reached + 1, until):
                yield arrival
                reached = arrival.place.sequence

    @override
    async def newest(self, workspace: str, session: str, schema: str = "") -> int:
        full = self.installation.subject(session_subject(workspace, session, schema or ">"))
        message = await optional(f"reading the end of {full}", self._js.get_msg(self._name, subject=full))
        return int(message.seq or 0) if message else 0

    @override
    async def get(self, sequence: int) -> StreamMessage | None:
        message = await optional(f"reading breadcrumb {sequence}", self._js.get_msg(self._name, seq=sequence))
        return self._arrival(message) if message else None

    async def follow(self, subject: str, start: int, until: Place) -> AsyncIterator[StreamMessage]:
        """Breadcrumbs of a subject from sequence `start` up to but not including `until`."""
        with translated("walking the stream"):
            full = self.installation.subject(subject)
            subscription = await self._js.pull_subscribe(full, stream=self._name, config=walk_from(start))
        count = 0
        try:
            while True:
                with translated(f"walking {subject}"):
                    remaining = _remaining(await subscription.consumer_info(), count)
                    if not remaining:
                        return
                    batch = await subscription.fetch(min(FETCH_MESSAGES, remaining), timeout=FETCH_SECONDS)
                for message in batch:
                    count += 1
                    if message.metadata.sequence.consumer != count:
                        raise Unavailable(f"walking {subject} lost a message on its way; it is walked again")
                    arrival = arrival_of(message, self.incarnation)
                    if arrival.place >= until:
                        return
                    yield arrival
        finally:
            with contextlib.suppress(NatsError, OSError):
                await subscription.unsubscribe()

    def _arrival(self, message: RawStreamMsg) -> StreamMessage:
        return StreamMessage(
            subject=plain_subject(str(message.subject)),
            data=message.data or b"",
            place=Place(self.incarnation, int(message.seq or 0)),
            received_at=(message.time or EPOCH).astimezone(UTC),
            replay=is_replay(message.headers),
        )


def _remaining(info: ConsumerInfo, count: int) -> int:
    return (info.num_pending or 0) + (info.delivered.consumer_seq if info.delivered else 0) - count


STUB = b"{}"


class NatsArchive(Archive, PublishedContexts):
    """Deletes from the three streams, and reads contexts."""

    def __init__(self, js: JetStreamContext, incarnation: Callable[[], int], installation: Installation = DEFAULT) -> None:
        """incarnation: of BREADCRUMBS as it is now."""
        self._js = js
        self._installation = installation
        self._breadcrumbs = NatsStream(js, incarnation, BREADCRUMBS, installation)
        self._contexts = NatsStream(js, lambda: 0, CONTEXTS, installation)
        self._letters = NatsStream(js, lambda: 0, DEADLETTERS, installation)

    @override
    async def delete_breadcrumbs(self, workspace: str, session: str, ids: frozenset[str], until: Place) -> Counter[str]:
        sessions = EVERY_SESSION if session == NO_SESSION else session
        walk = self._breadcrumbs.walk(workspace, sessions, ORIGIN, until)
        matches = [(each.place.sequence, _name_in(each.data, ids)) async for each in walk if not _closes(each.subject)]
        return Counter([name for sequence, name in matches if name and await self._delete(BREADCRUMBS, sequence)])

    @override
    async def delete_at(self, place: Place, workspace: str, session: str, identity: str = "") -> bool:
        if place.incarnation != self._breadcrumbs.incarnation:
            return False
        message = await self._breadcrumbs.get(place.sequence)
        if message is None or (identity and not _name_in(message.data, frozenset({identity}))):
            return False
        is_there = message.subject.startswith(session_subject(workspace, session).removesuffix(">"))
        return is_there and await self._delete(BREADCRUMBS, place.sequence)

    @override
    async def delete_letters(
        self, workspace: str, session: str, ids: frozenset[str] | None, after: int = 0
    ) -> tuple[Counter[str], int]:
        sessions = EVERY_SESSION if session == NO_SESSION else session
        prefix = session_subject(workspace, sessions).removesuffix(">").removesuffix("*.")
        letters, reached = await self._behind(self._letters, "deadletters.>", after)
        matches = []
        for letter in letters:
            content = json.loads(letter.data)
            name = EVERY_ID if ids is None else _name_in(base64.b64decode(content["data"]), ids)
            if content["subject"].startswith(prefix) and (name or ids is None):
                matches.append((letter.place.sequence, name))
                place, home = Place(content["incarnation"], content["sequence"]), content["subject"].split(".")[2]
                await self.delete_at(place, workspace, home)
        return Counter([name for sequence, name in matches if await self._delete(DEADLETTERS, sequence)]), reached

    @override
    async def contexts_with(self, workspace: str, ids: frozenset[str], after: int = 0) -> tuple[tuple[Sighting, ...], int]:
        contexts, reached = await self._behind(self._contexts, f"{CONTEXTS_SUBJECT}.{workspace}.>", after)
        seen = (Sighting(each.place.sequence, each.subject, _ids_in(each.data, ids)) for each in contexts)
        return tuple(each for each in seen if each.ids), reached

    @override
    async def replace_context(self, sequence: int, subject: str) -> int:
        if sequence:
            await self._delete(CONTEXTS, sequence)
        try:
            with translated(f"leaving a stub on {subject}"):
                full, stream = self._installation.subject(subject), self._installation.stream(CONTEXTS)
                return (await self._js.publish(full, STUB, stream=stream, headers={FORGOTTEN_HEADER: "1"})).seq
        except AlreadyPublished:
            return 0

    @override
    async def last_context(self, workspace: str, consumer: str, session: str) -> PublishedEvent | None:
        subject = context_subject(workspace, consumer, session, "*")
        newest = await self._last(subject)
        if newest is None or newest.data != STUB:
            return newest
        messages, _ = await self._behind(self._contexts, subject, 0)
        contexts = [each.data for each in messages if each.data != STUB]
        return PublishedEvent(contexts[-1], "") if contexts else None

    @override
    async def context(self, workspace: str, consumer: str, session: str, identity: str) -> PublishedEvent | None:
        match = await self._last(context_subject(workspace, consumer, session, identity))
        return None if match is None or match.data == STUB else match

    async def _last(self, subject: str) -> PublishedEvent | None:
        full, stream = self._installation.subject(subject), self._installation.stream(CONTEXTS)
        message = await optional(f"reading {full}", self._js.get_last_msg(stream, full))
        return PublishedEvent(message.data or b"", (message.headers or {}).get(TIMES_HEADER, "")) if message else None

    async def _behind(self, stream: NatsStream, subject: str, after: int) -> tuple[list[StreamMessage], int]:
        """Messages behind a sequence, and the last one that was read: a replica may lag behind the end of the stream."""
        last = (await stream.last()).sequence
        if after == last:
            return [], after
        after = after if after < last else 0  # it is another stream now
        messages = [arrival async for arrival in stream.follow(subject, after + 1, Place(0, last + 1))]
        return messages, messages[-1].place.sequence if messages else after

    async def _delete(self, kind: str, sequence: int) -> bool:
        """False when the stream does not hold it: the server calls that a failure when another worker deletes it just now."""
        stream = self._installation.stream(kind)
        try:
            return bool(await optional(f"deleting {sequence} from {stream}", self._js.delete_msg(stream, sequence)))
        except Unavailable:
            if await optional(f"looking for {sequence} in {stream}", self._js.get_msg(stream, seq=sequence)) is None:
                return False
            raise


def _name_in(data: bytes, ids: frozenset[str]) -> str:
    """Which of the ids the record of these bytes has, or these bytes, if they are no whole record, name as theirs; "" = none."""
    try:
        record = parse(data)
    except ValueError:
        record = None
    if isinstance(record, dict):
        identity = record.get("id")
        name = clean(identity) if isinstance(identity, str) else ""
        return name if name in ids else ""
    for name in sorted(ids):
        if re.search(rb'"id"\s*:\s*' + re.escape(json.dumps(name, ensure_ascii=False).encode()), data):
            return name
    return ""


def _closes(subject: str) -> bool:
    """Whether a tombstone or a move stands there: what it took away would be back without it."""
    return subject.endswith((f".{TOMBSTONE}", f".{MOVE}"))


def _ids_in(data: bytes, ids: frozenset[str]) -> frozenset[str]:
    """Which of these a context names, or has as names if it cannot be read. A stub has none."""
    try:
        event = json.loads(data)
        on_page = (identity for section in event.get("sections", ()) for identity in section["ids"])
        omitted = [item["id"] for item in event.get("omissions", {}).get("most_relevant", ())]
        return ids.intersection((event.get("trigger_event_id", ""), *omitted, *on_page))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return frozenset(name for name in ids if json.dumps(name, ensure_ascii=False).encode() in data)
