"""Messages of the stream as the worker reads them, out of deliveries and reads."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from builder.domain.breadcrumb import Place, StreamMessage
from builder.wire.subjects import REPLAY_HEADER, plain_subject
from builder.wire.traces import trace_of

SHORT_ACK_TOKENS = 9
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INACTIVE_SECONDS = 60.0
"""After which the server removes the consumer of a walk that nobody ended."""


def walk_config(start: int) -> ConsumerConfig:
    """Of an ephemeral consumer that reads a stream from a sequence on."""
    return ConsumerConfig(
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=start,
        ack_policy=AckPolicy.NONE,
        inactive_threshold=INACTIVE_SECONDS,
        mem_storage=True,
        num_replicas=1,
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
        trace=trace_of(message.headers),
    )


def is_replay(headers: Mapping[str, str] | None) -> bool:
    """Whether the message was imported: nobody answers it."""
    return (headers or {}).get(REPLAY_HEADER) == "1"


def _stream_time(reply: str) -> datetime:
    """The stream's clock out of the ack subject, to the microsecond.

    nats-py goes through a float and is off by one now and then, so one breadcrumb would have two times: as delivered and
    as read by a direct get. ADR-15: nine tokens, or at least eleven with domain and account.
    """
    tokens = reply.split(".")
    nanoseconds = int(tokens[7] if len(tokens) == SHORT_ACK_TOKENS else tokens[9])
    return EPOCH + timedelta(microseconds=nanoseconds // 1000)
