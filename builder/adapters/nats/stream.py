"""`Stream` on JetStream: short gaps by single gets, long ones by an ephemeral ordered consumer.

What leaves the service: contexts and dead letters, each at most once, and breadcrumbs of its own.
"""

import base64
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, ConsumerInfo, DeliverPolicy, RawStreamMsg, StreamState
from typing_extensions import override

from builder.adapters.nats.errors import believe_only_the_server, optional, translated
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS
from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.context import Context
from builder.domain.errors import AlreadyPublished, Rejected, Unavailable
from builder.ports.broker import Publisher, Sender, Stream
from builder.publish.compaction import encode_compaction
from builder.remember.secrets import holds_secret
from builder.wire.subjects import (
    DEFAULT,
    MESSAGE_ID_HEADER,
    REPLAY_HEADER,
    Installation,
    compaction_subject,
    context_subject,
    plain_subject,
    session_subject,
)

MAX_SINGLE_GETS = 64
"""Breadcrumbs read one by one (0.3 ms each) before a consumer is worth its price."""
FETCH_MESSAGES = 32
"""nats-py drops what comes above 256 MiB: so many of the largest messages stay below that."""
FETCH_SECONDS = 5.0
SHORT_ACK_TOKENS = 9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_DATA_BYTES = 2 * 1024 * 1024
"""Of a larger rejected event the dead letter keeps the beginning; the whole stays in BREADCRUMBS under its sequence.
Of a secret it keeps nothing."""
MAX_REASON_CHARS = 4_000
OTHER_FIELDS_BYTES = 32 * 1024
"""Bytes of what the broker takes that are left to the other fields of a dead letter."""


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
        """Of the stream as it is now."""
        return self._incarnation()

    async def first(self) -> Place:
        """Place of the oldest breadcrumb that the stream still holds. Raises `Unavailable`."""
        return Place(self.incarnation, (await self._state()).first_seq)

    async def last(self) -> Place:
        """Place of the newest breadcrumb. Raises `Unavailable`."""
        return Place(self.incarnation, (await self._state()).last_seq)

    async def _state(self) -> StreamState:
        with translated("reading the stream's state"):
            return (await self._js.stream_info(self._name)).state

    @override
    def walk(self, workspace: str, session: str, after: Place, until: Place, schema: str = "") -> AsyncIterator[StreamMessage]:
        reached = after.sequence if after.incarnation == self.incarnation else 0
        return self._walk(session_subject(workspace, session, schema or ">"), reached, until)

    def everything(self, until: Place) -> AsyncIterator[StreamMessage]:
        """All breadcrumbs of all workspaces before `until`, for `reindex`."""
        return self._walk("breadcrumbs.>", 0, until)

    def tombstones(self, after: Place, until: Place) -> AsyncIterator[StreamMessage]:
        """The tombstones of all workspaces between two places, both exclusive."""
        reached = after.sequence if after.incarnation == self.incarnation else 0
        return self._walk("breadcrumbs.*.*.breadcrumb.deleted.v1", reached, until)

    async def _walk(self, subject: str, reached: int, until: Place) -> AsyncIterator[StreamMessage]:
        """Ends with the word of the stream's leader: the consumer may sit on a replica that lags behind."""
        while True:
            for _ in range(MAX_SINGLE_GETS):
                arrival = await self._next(subject, reached + 1)
                if arrival is None or arrival.place >= until:
                    return
                yield arrival
                reached = arrival.place.sequence
            async for arrival in self.follow(subject, reached + 1, until):
                yield arrival
                reached = arrival.place.sequence

    async def get(self, sequence: int) -> StreamMessage | None:
        """One breadcrumb by its sequence, or None when the stream no longer holds it."""
        message = await optional(f"reading breadcrumb {sequence}", self._js.get_msg(self._name, seq=sequence))
        return self._arrival(message) if message else None

    async def follow(self, subject: str, start: int, until: Place) -> AsyncIterator[StreamMessage]:
        """Breadcrumbs of a subject from sequence `start` up to but not including `until`."""
        config = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=start,
            ack_policy=AckPolicy.NONE,
            inactive_threshold=60,
            mem_storage=True,
            num_replicas=1,
        )
        with translated("walking the stream"):
            subscription = await self._js.pull_subscribe(self.installation.subject(subject), stream=self._name, config=config)
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

    async def _next(self, subject: str, sequence: int) -> StreamMessage | None:
        # Not direct: any replica would answer, one that lags behind too, and a header `Status` would be believed.
        full = self.installation.subject(subject)
        message = await optional(f"reading {full}", self._js.get_msg(self._name, seq=sequence, subject=full, next=True))
        return self._arrival(message) if message else None

    def _arrival(self, message: RawStreamMsg) -> StreamMessage:
        return StreamMessage(
            subject=plain_subject(str(message.subject)),
            data=message.data or b"",
            place=Place(self.incarnation, int(message.seq or 0)),
            received_at=(message.time or _EPOCH).astimezone(UTC),
            replay=is_replay(message.headers),
        )


def arrival_of(message: Msg, incarnation: int) -> StreamMessage:
    """An arrival of a delivered message."""
    return StreamMessage(
        subject=plain_subject(message.subject),
        data=message.data,
        place=Place(incarnation, message.metadata.sequence.stream),
        received_at=_stream_time(message.reply),
        replay=is_replay(message.headers),
        deliveries=message.metadata.num_delivered,
    )


def is_replay(headers: Mapping[str, str] | None) -> bool:
    """Whether the message was imported: nobody answers it."""
    return (headers or {}).get(REPLAY_HEADER) == "1"


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
    async def publish(self, context: Context, event: bytes) -> None:
        identity = str(context.id)
        with translated(f"publishing context {identity}"):
            ack = await self._js.publish(
                self._subject(context), event, stream=self._contexts, headers={MESSAGE_ID_HEADER: identity}
            )
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
    async def dead_letter(self, arrival: StreamMessage, reason: str) -> None:
        subject = letter_subject(arrival.place)
        data = b"" if holds_secret(arrival.subject, arrival.data) else arrival.data[: self._max_data_bytes]
        letter = {
            "reason": reason[:MAX_REASON_CHARS],
            "subject": arrival.subject,
            "sequence": arrival.place.sequence,
            "incarnation": arrival.place.incarnation,
            "replay": arrival.replay,
            "received_at": arrival.received_at.astimezone(UTC).isoformat(),
            "bytes": len(arrival.data),
            "data": base64.b64encode(data).decode(),
        }
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


def letter_subject(place: Place) -> str:
    """Where the letter about the breadcrumb of a place is kept."""
    return f"deadletters.{place.incarnation}.{place.sequence}"


def _remaining(info: ConsumerInfo, count: int) -> int:
    """How many are still to come, those included that are on their way."""
    return (info.num_pending or 0) + (info.delivered.consumer_seq if info.delivered else 0) - count


def _stream_time(reply: str) -> datetime:
    """The stream's clock out of the ack subject, to the microsecond.

    nats-py goes through a float and is off by one now and then, so one breadcrumb would have two times: as delivered and
    as read by a direct get. ADR-15: nine tokens, or at least eleven with domain and account.
    """
    tokens = reply.split(".")
    nanoseconds = int(tokens[7] if len(tokens) == SHORT_ACK_TOKENS else tokens[9])
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
