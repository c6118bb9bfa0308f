"""The connection of nats-py: its errors become ours; publishing contexts, dead letters and own breadcrumbs."""

import base64
import json
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from datetime import UTC
from typing import TypeVar

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError
from typing_extensions import override

from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS
from builder.client.connecting import reason, refusal
from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.context import Context
from builder.domain.errors import AlreadyPublished, Misconfigured, Rejected, Unavailable
from builder.ports.broker import Publisher, Sender
from builder.publish.reports import encode_compaction
from builder.remember.record import holds_secret
from builder.wire.subjects import (
    DEFAULT,
    MESSAGE_ID_HEADER,
    REPLAY_HEADER,
    TIMES_HEADER,
    Installation,
    compaction_subject,
    context_subject,
)

T = TypeVar("T")

STORE_FAILED_CODE = 10077
"""JetStream's code for what its store refuses; nats-py raises it as ServiceUnavailableError."""
SUBJECT_IS_TAKEN = "maximum messages per subject exceeded"
"""How that code says "this subject has its one message": a full stream or disk has the same code and other words."""

ACCOUNT = {
    10039: "enable JetStream for the account of this user",
    10027: "raise the account's max_streams: this service needs five streams, its bucket included",
    10026: "raise the account's max_consumers: this service needs three durables, and one for each agent and each reader",
}
"""JetStream's codes for what an account must be given, and what to do."""


@contextmanager
def explained(connection: Client) -> Iterator[None]:
    """Raises `Misconfigured` for what the broker refuses to the user or the account of the connection, else `Unavailable`."""
    try:
        yield
    except (APIError, NatsError, Unavailable) as error:
        missing = refusal(connection.last_error) or ACCOUNT.get(getattr(error.__cause__ or error, "err_code", None) or 0)
        advice = missing or ("" if isinstance(error, Unavailable) else "look at the broker's log and its load")
        raise (Misconfigured if missing else Unavailable)("; ".join(filter(None, (reason(error), advice)))) from error


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Raises `AlreadyPublished` or `Unavailable` instead of driver errors. doing: what failed, for the message."""
    try:
        yield
    except ServiceUnavailableError as error:
        if error.err_code == STORE_FAILED_CODE and SUBJECT_IS_TAKEN in (error.description or ""):
            raise AlreadyPublished(f"{doing}: the stream holds one already") from error
        raise Unavailable(f"{doing} failed: {error}; the broker cannot serve it now") from error
    except (APIError, NatsError, OSError, TimeoutError) as error:
        raise Unavailable(f"{doing} failed: {error!r}; is the broker up?") from error


async def optional(doing: str, request: Awaitable[T]) -> T | None:
    """The answer; None when the server holds nothing of the kind. Raises as `translated` does."""
    with translated(doing):
        try:
            return await request
        except NotFoundError:
            return None


def believe_only_the_server() -> None:
    """Make nats-py deliver every stored message, whatever its headers say.

    nats-py (2.16, `is_status_msg`) takes a header `Status` of a publisher for a status of the server: the breadcrumb would
    never reach the worker, never be dead-lettered, and take the rest of its batch with it, so one tenant could stop all. A
    stored message comes with an ack subject as its reply; a status of the server has no reply.
    """
    JetStreamContext.is_status_msg = staticmethod(_status)  # type: ignore[method-assign, assignment]


def _status(message: Msg | None) -> str | None:
    if message is None or message.reply or message.headers is None:
        return None
    return message.headers.get("Status")


MAX_DATA_BYTES = 2 * 1024 * 1024
"""Of a larger rejected event the dead letter keeps the beginning; the whole stays in BREADCRUMBS under its sequence.
Of a secret it keeps nothing."""
MAX_REASON_CHARS = 4_000
OTHER_FIELDS_BYTES = 32 * 1024
"""Bytes of what the broker takes that are left to the other fields of a dead letter."""


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
        with translated(f"publishing context {identity}"):
            ack = await self._js.publish(self._subject(context), event, stream=self._contexts, headers=headers)
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
        letter = {
            "reason": reason[:MAX_REASON_CHARS],
            **({"consumer": consumer} if consumer else {}),
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


def letter_subject(place: Place, consumer: str = "") -> str:
    """Where the letter about the breadcrumb of a place is kept, or the one of an agent that gave its context up."""
    return ".".join(filter(None, ("deadletters", str(place.incarnation), str(place.sequence), consumer)))
