"""`Archive`, `PublishedContexts` and `ShadowDifferences` on JetStream, whose server overwrites what is deleted."""

import base64
import contextlib
import json
import logging
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError
from typing_extensions import override

from builder.adapters.nats.errors import optional, translated
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS, SHADOWS, Topology, shadows_config
from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Place, StreamMessage
from builder.domain.errors import AlreadyPublished, Unavailable
from builder.domain.recall import EVERY_SESSION
from builder.domain.shadow_difference import ShadowDifference
from builder.ports.broker import Archive, PublishedContexts, ShadowDifferences
from builder.wire.json import clean, parse
from builder.wire.shadows import decode_difference, encode_difference, shadow_subject
from builder.wire.subjects import CONTEXTS as CONTEXTS_SUBJECT
from builder.wire.subjects import DEFAULT, FORGOTTEN_HEADER, Installation, context_subject, session_subject

log = logging.getLogger("builder.nats")

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


class NatsShadows(ShadowDifferences):
    """One message a consumer, shadow and trigger, in a stream that the first difference makes."""

    def __init__(self, js: JetStreamContext, topology: Topology) -> None:
        self._js = js
        self._config = shadows_config(topology)
        self._installation = topology.installation
        self._name = topology.installation.stream(SHADOWS)
        self._is_there = False
        """The stream was seen."""
        self._is_denied = False
        """The broker does not answer for it, as it does where the rights are missing."""

    @override
    async def keep(self, difference: ShadowDifference) -> None:
        names = (difference.workspace, difference.consumer, difference.shadow, difference.session)
        subject = self._installation.subject(shadow_subject(*names, difference.trigger))
        with translated(f"keeping {subject}"):
            if not self._is_there:
                if not await self._exists():
                    await self._js.add_stream(self._config)
                self._is_there = True
            await self._js.publish(subject, encode_difference(difference), stream=self._name)

    @override
    async def remove(self, workspace: str, triggers: frozenset[str]) -> None:
        """Nothing where the stream is not there, or the broker grants no rights on it."""
        if self._is_denied:
            return
        with translated("looking for differences of shadows"):
            if not await self._exists():
                return
        for trigger in sorted(triggers):
            subject = self._installation.subject(shadow_subject(workspace, "*", "*", "*", trigger))
            with translated(f"removing {subject}"):
                await self._js.purge_stream(self._name, subject=subject)

    async def read(
        self, workspace: str, consumer: str = "*", shadow: str = "*", trigger: str = "*"
    ) -> AsyncIterator[ShadowDifference]:
        """Those of these names, in the order in which they were kept. Raises `Unavailable`."""
        with translated("reading differences of shadows"):
            if not await self._exists():
                return
        stream = NatsStream(self._js, lambda: 0, SHADOWS, self._installation)
        last = await stream.last()
        subject = shadow_subject(workspace, consumer, shadow, "*", trigger)
        async for message in stream.follow(subject, 1, Place(0, last.sequence + 1)):
            yield decode_difference(message.data)

    async def _exists(self) -> bool:
        """Raises what nats-py raises, but for a broker that answers for other streams and not for this one."""
        try:
            await self._js.stream_info(self._name)
        except NotFoundError:
            return False
        except (TimeoutError, NatsTimeoutError):
            await self._js.stream_info(self._installation.stream(BREADCRUMBS))  # or the broker is away
            self._is_denied = True
            log.warning("the broker does not answer for stream %s; grant its rights, or remove shadow profiles", self._name)
            return False
        return True


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
