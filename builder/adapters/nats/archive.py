"""`Archive` and `PublishedContexts` on JetStream, whose server overwrites what is deleted."""

import base64
import contextlib
import json
import re
from collections.abc import Callable
from typing import Any

from nats.js import JetStreamContext
from typing_extensions import override

from builder.adapters.nats.errors import optional, translated
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS
from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Place, StreamMessage
from builder.domain.errors import AlreadyPublished, Unavailable
from builder.domain.recall import EVERY_SESSION
from builder.ports.broker import Archive, PublishedContexts
from builder.wire.json import clean, parse
from builder.wire.subjects import CONTEXTS as CONTEXTS_SUBJECT
from builder.wire.subjects import DEFAULT, FORGOTTEN_HEADER, Installation, context_subject, session_subject

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
    async def delete_breadcrumbs(self, workspace: str, session: str, ids: frozenset[str], until: Place) -> int:
        sessions = EVERY_SESSION if session == NO_SESSION else session
        walk = self._breadcrumbs.walk(workspace, sessions, ORIGIN, until)
        matches = [arrival.place.sequence async for arrival in walk if _names(arrival.data, ids)]
        return sum([await self._delete(BREADCRUMBS, sequence) for sequence in matches])

    @override
    async def delete_at(self, place: Place, workspace: str, session: str, identity: str = "") -> bool:
        if place.incarnation != self._breadcrumbs.incarnation:
            return False
        message = await self._breadcrumbs.get(place.sequence)
        if message is None or not message.subject.startswith(session_subject(workspace, session).removesuffix(">")):
            return False
        if identity and not _names(message.data, frozenset({identity})):
            return False
        return await self._delete(BREADCRUMBS, place.sequence)

    @override
    async def delete_letters(self, workspace: str, session: str, ids: frozenset[str]) -> int:
        sessions = EVERY_SESSION if session == NO_SESSION else session
        prefix = session_subject(workspace, sessions).removesuffix(">").removesuffix("*.")
        matches = []
        for letter in await self._all(self._letters, "deadletters.>"):
            content = json.loads(letter.data)
            if content["subject"].startswith(prefix) and _names(base64.b64decode(content["data"]), ids):
                matches.append(letter.place.sequence)
        return sum([await self._delete(DEADLETTERS, sequence) for sequence in matches])

    @override
    async def contexts_with(self, workspace: str, ids: frozenset[str]) -> tuple[tuple[int, str], ...]:
        contexts = await self._all(self._contexts, f"{CONTEXTS_SUBJECT}.{workspace}.>")
        return tuple((each.place.sequence, each.subject) for each in contexts if not ids.isdisjoint(_ids_of(each.data)))

    @override
    async def replace_context(self, sequence: int, subject: str) -> None:
        if sequence:
            await self._delete(CONTEXTS, sequence)
        with contextlib.suppress(AlreadyPublished), translated(f"leaving a stub on {subject}"):
            full, stream = self._installation.subject(subject), self._installation.stream(CONTEXTS)
            await self._js.publish(full, STUB, stream=stream, headers={FORGOTTEN_HEADER: "1"})

    @override
    async def last_context(self, workspace: str, consumer: str, session: str) -> bytes | None:
        subject = context_subject(workspace, consumer, session, "*")
        newest = await self._last(subject)
        if newest != STUB:
            return newest
        contexts = [each.data for each in await self._all(self._contexts, subject) if each.data != STUB]
        return contexts[-1] if contexts else None

    @override
    async def context(self, workspace: str, consumer: str, session: str, identity: str) -> bytes | None:
        matches = await self._last(context_subject(workspace, consumer, session, identity))
        return None if matches == STUB else matches

    async def _last(self, subject: str) -> bytes | None:
        full, stream = self._installation.subject(subject), self._installation.stream(CONTEXTS)
        message = await optional(f"reading {full}", self._js.get_last_msg(stream, full))
        return message.data if message else None

    async def _all(self, stream: NatsStream, subject: str) -> list[StreamMessage]:
        last = await stream.last()
        return [arrival async for arrival in stream.follow(subject, 1, Place(0, last.sequence + 1))]

    async def _delete(self, kind: str, sequence: int) -> bool:
        """False when the stream does not hold it: the server calls that a failure when another worker deletes it just now."""
        stream = self._installation.stream(kind)
        try:
            return bool(await optional(f"deleting {sequence} from {stream}", self._js.delete_msg(stream, sequence)))
        except Unavailable:
            if await optional(f"looking for {sequence} in {stream}", self._js.get_msg(stream, seq=sequence)) is None:
                return False
            raise


def _names(data: bytes, ids: frozenset[str]) -> bool:
    """Whether these bytes are a record with one of the ids, or are no whole record and name one as their id."""
    try:
        record = parse(data)
    except ValueError:
        record = None
    if isinstance(record, dict):
        identity = record.get("id")
        return isinstance(identity, str) and clean(identity) in ids
    return any(re.search(rb'"id"\s*:\s*' + re.escape(json.dumps(name, ensure_ascii=False).encode()), data) for name in ids)


def _ids_of(data: bytes) -> set[str]:
    """Every breadcrumb that a context names; none for a stub."""
    event: dict[str, Any] = json.loads(data)
    on_page = (identity for section in event.get("sections", ()) for identity in section["ids"])
    omitted = (item["id"] for item in event.get("omissions", {}).get("most_relevant", ()))
    return {event.get("trigger_event_id", ""), *on_page, *omitted}
