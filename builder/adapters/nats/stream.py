"""`Stream` on JetStream: short gaps by direct gets, long ones by an ephemeral ordered consumer."""

from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta

from nats.aio.msg import Msg
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, RawStreamMsg
from nats.js.errors import NotFoundError

from builder.adapters.nats.errors import translated
from builder.adapters.nats.topology import BREADCRUMBS
from builder.domain.breadcrumb import Arrival, Place
from builder.domain.errors import Unavailable
from builder.wire.subjects import REPLAY_HEADER, session_subject

SHORT = 64
"""Breadcrumbs read one by one (0.3 ms each) before a consumer is worth its price."""
BATCH = 256
FETCH_SECONDS = 5.0
SHORT_ACK = 9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class NatsStream:
    """See the port."""

    def __init__(self, js: JetStreamContext, incarnation: Callable[[], int], name: str = BREADCRUMBS) -> None:
        """incarnation: of the stream as it is now. name: of the stream, so that dead letters are read the same way."""
        self._js = js
        self._name = name
        self._incarnation = incarnation

    @property
    def incarnation(self) -> int:
        """Of the stream as it is now."""
        return self._incarnation()

    async def first(self) -> Place:
        """See the port."""
        with translated("reading the stream's state"):
            info = await self._js.stream_info(self._name)
        return Place(self.incarnation, info.state.first_seq)

    async def last(self) -> Place:
        """Place of the newest breadcrumb."""
        with translated("reading the stream's state"):
            info = await self._js.stream_info(self._name)
        return Place(self.incarnation, info.state.last_seq)

    async def walk(self, workspace: str, session: str, after: Place, until: Place) -> AsyncIterator[Arrival]:
        """See the port."""
        subject = session_subject(workspace, session)
        next_sequence = after.sequence + 1 if after.incarnation == self.incarnation else 1
        for _ in range(SHORT):
            arrival = await self._next(subject, next_sequence)
            if arrival is None or arrival.place >= until:
                return
            yield arrival
            next_sequence = arrival.place.sequence + 1
        async for arrival in self.follow(subject, next_sequence, until):
            yield arrival

    async def everything(self, until: Place) -> AsyncIterator[Arrival]:
        """All breadcrumbs of all workspaces before `until`, for `reindex`."""
        async for arrival in self.follow("breadcrumbs.>", 1, until):
            yield arrival

    async def get(self, sequence: int) -> Arrival | None:
        """One breadcrumb by its sequence, or None when the stream no longer holds it."""
        with translated(f"reading breadcrumb {sequence}"):
            try:
                held = await self._js.get_msg(self._name, seq=sequence, direct=False)
            except NotFoundError:
                return None
        return self._arrival(held)

    async def follow(self, subject: str, start: int, until: Place) -> AsyncIterator[Arrival]:
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
            subscription = await self._js.pull_subscribe(subject, stream=self._name, config=config)
        try:
            while True:
                with translated("walking the stream"):
                    info = await subscription.consumer_info()
                    if not info.num_pending:
                        return
                    batch = await subscription.fetch(min(BATCH, info.num_pending), timeout=FETCH_SECONDS)
                for message in batch:
                    arrival = arrival_of(message, self.incarnation)
                    if arrival.place >= until:
                        return
                    yield arrival
        except NatsTimeout as error:
            raise Unavailable(f"walking {subject} got no answer for {FETCH_SECONDS} s; is the broker up?") from error
        finally:
            await subscription.unsubscribe()

    async def _next(self, subject: str, sequence: int) -> Arrival | None:
        with translated(f"reading {subject}"):
            try:
                held = await self._js.get_msg(self._name, seq=sequence, subject=subject, next=True, direct=True)
            except NotFoundError:
                return None
        return self._arrival(held)

    def _arrival(self, held: RawStreamMsg) -> Arrival:
        return Arrival(
            subject=str(held.subject),
            data=held.data or b"",
            place=Place(self.incarnation, int(held.seq or 0)),
            received_at=(held.time or _EPOCH).astimezone(UTC),
            replay=_is_replay(held.headers),
        )


def arrival_of(message: Msg, incarnation: int) -> Arrival:
    """An arrival of a delivered message."""
    return Arrival(
        subject=message.subject,
        data=message.data,
        place=Place(incarnation, message.metadata.sequence.stream),
        received_at=_stream_time(message.reply),
        replay=_is_replay(message.headers),
    )


def _stream_time(reply: str) -> datetime:
    """The stream's clock out of the ack subject, to the microsecond.

    nats-py goes through a float and is off by one now and then, so one breadcrumb would have two times: as delivered and
    as read by a direct get. ADR-15: nine tokens, or at least eleven with domain and account.
    """
    tokens = reply.split(".")
    nanoseconds = int(tokens[7] if len(tokens) == SHORT_ACK else tokens[9])
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def _is_replay(headers: Mapping[str, str] | None) -> bool:
    return (headers or {}).get(REPLAY_HEADER) == "1"
