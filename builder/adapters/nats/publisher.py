"""`Publisher` and `Sender` on JetStream: contexts and dead letters, each at most once, and the service's own breadcrumbs."""

import base64
import json
from datetime import UTC
from typing import NotRequired

from nats.aio.client import Client
from nats.js import JetStreamContext
from typing_extensions import TypedDict, override

from builder.adapters.nats.connection import optional, translated
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS
from builder.connection.names import DEFAULT, MESSAGE_ID_HEADER, REPLAY_HEADER, TIMES_HEADER, Installation
from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.context import Context
from builder.domain.errors import AlreadyPublished, Rejected, Unavailable
from builder.ports.contexts import Publisher
from builder.ports.stream import Sender
from builder.publish.reports import encode_compaction
from builder.remember.secrecy import holds_secret
from builder.wire.subjects import compaction_subject, context_subject
from builder.wire.traces import span, trace_headers

MAX_DATA_BYTES = 2 * 1024 * 1024
"""The dead letter keeps the beginning of a larger rejected event; the whole stays in BREADCRUMBS under its sequence.
Of a secret it keeps nothing."""
MAX_REASON_CHARS = 4_000
OTHER_FIELDS_BYTES = 32 * 1024
"""Bytes of what the broker takes that are left to the other fields of a dead letter."""


class DeadLetter(TypedDict):
    """A message that was rejected, or that an agent gave up, and why."""

    reason: str
    consumer: NotRequired[str]
    """The agent that gave it up."""
    subject: str
    sequence: int
    incarnation: int
    replay: bool
    received_at: str
    bytes: int
    """The whole message."""
    data: str
    """Base64 of its beginning; empty for a secret."""


class NatsPublisher(Publisher):
    """Contexts to CONTEXTS, dead letters to DEADLETTERS."""

    def __init__(self, connection: Client, max_payload: int, installation: Installation = DEFAULT) -> None:
        """connection: reconnects for ever. max_payload: bytes that the broker takes."""
        self._connection = connection
        self._js = connection.jetstream()
        self._installation = installation
        self._contexts, self._letters = installation.stream(CONTEXTS), installation.stream(DEADLETTERS)
        # A letter that the broker refuses would be retried without end and block the worker. Base64 makes 4 bytes of 3.
        self._max_data_bytes = min(MAX_DATA_BYTES, max(0, max_payload - OTHER_FIELDS_BYTES) // 4 * 3)

    @override
    async def publish(self, context: Context, event: bytes, times: str) -> None:
        identity = str(context.id)
        headers = {MESSAGE_ID_HEADER: identity} | ({TIMES_HEADER: times} if times else {})
        with translated(f"publishing context {identity}"), span("publish context", "producer") as note:
            note(consumer=context.consumer)
            trace = trace_headers()
            ack = await self._js.publish(self._subject(context), event, stream=self._contexts, headers=headers | trace)
        if ack.duplicate:
            raise AlreadyPublished(f"publishing context {identity}: the server has seen it")

    @override
    async def holds(self, context: Context) -> bool:
        # Not direct: a replica that lags behind would not know it yet.
        message = await optional(
            f"looking for context {context.id}", self._js.get_last_msg(self._contexts, self._subject(context))
        )
        return message is not None

    @override
    async def announce(self, context: Context) -> None:
        if context.compaction is None:
            return
        plain = compaction_subject(context.trigger.workspace, context.consumer, context.trigger.session)
        subject = self._installation.subject(plain)
        with translated(f"announcing on {subject}"):
            await self._connection.publish(subject, encode_compaction(context, context.compaction))

    @override
    async def dead_letter(self, arrival: StreamMessage, reason: str, consumer: str = "") -> None:
        subject = letter_subject(arrival.place, consumer)
        data = b"" if holds_secret(arrival.subject, arrival.data) else arrival.data[: self._max_data_bytes]
        letter: DeadLetter = {
            "reason": reason[:MAX_REASON_CHARS],
            "subject": arrival.subject,
            "sequence": arrival.place.sequence,
            "incarnation": arrival.place.incarnation,
            "replay": arrival.replay,
            "received_at": arrival.received_at.astimezone(UTC).isoformat(),
            "bytes": len(arrival.data),
            "data": base64.b64encode(data).decode(),
        }
        if consumer:
            letter["consumer"] = consumer
        event = json.dumps(letter, ensure_ascii=False).encode("utf-8", "replace")
        try:
            with translated(f"dead-lettering {arrival.subject}"):
                identity = subject.split(".", 1)[1]
                full = self._installation.subject(subject)
                await self._js.publish(full, event, stream=self._letters, headers={MESSAGE_ID_HEADER: identity})
        except AlreadyPublished:
            return

    def _subject(self, context: Context) -> str:
        trigger = context.trigger
        plain = context_subject(trigger.workspace, context.consumer, trigger.session, str(context.id))
        return self._installation.subject(plain)


class NatsSender(Sender):
    """Sends to BREADCRUMBS and reads back what it sent, because only the stream knows its time."""

    def __init__(self, js: JetStreamContext, stream: NatsStream) -> None:
        """stream: reads BREADCRUMBS."""
        self._js = js
        self._stream = stream

    @override
    async def send(self, subject: str, data: bytes, message_id: str, *, triggers: bool = False) -> StreamMessage:
        headers = {MESSAGE_ID_HEADER: message_id} | ({} if triggers else {REPLAY_HEADER: "1"})
        with translated(f"publishing on {subject}"):
            own = self._stream.installation
            ack = await self._js.publish(own.subject(subject), data, stream=own.stream(BREADCRUMBS), headers=headers)
        stored = await self._stream.get(ack.seq)
        if stored is None:
            raise Unavailable(f"the stream did not keep breadcrumb {ack.seq}; ask again")
        if stored.subject != subject:
            raise Rejected(f"{message_id} was not published on {subject}: it stands on {stored.subject} as sequence {ack.seq}")
        return stored


def letter_subject(place: Place, consumer: str = "") -> str:
    """Where the letter about the breadcrumb of a place is kept, or the one of an agent that gave its context up."""
    return ".".join(filter(None, ("deadletters", str(place.incarnation), str(place.sequence), consumer)))
