"""Messages that a stream lost since a snapshot of it was taken: a backup must not hold what was erased before it ended."""

from nats.js import JetStreamContext

from builder.adapters.nats.connection import translated
from builder.adapters.nats.stream import STUB, NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, walk_from
from builder.connection.names import Installation
from builder.domain.breadcrumb import Place
from builder.extras.operations.snapshot import Snapshot

LOOKS = 10
"""At a stream that changes while it is looked at."""


async def is_stale(js: JetStreamContext, installation: Installation, kind: str, snapshot: Snapshot) -> bool:
    """Whether the stream may have lost something that the snapshot has, other than by its age. Raises `Unavailable`.

    What an erasure leaves counts too, a tombstone or the stub of a context: the oldest message of a stream with an age limit is
    gone without a trace.
    """
    is_aged = bool(snapshot.config.get("max_age"))
    first, last, messages = (int(snapshot.earliest[name]) for name in ("first_seq", "last_seq", "messages"))
    if await _holes(js, installation.stream(kind), snapshot.last, is_aged=is_aged) > _count(
        first, last, messages, is_aged=is_aged
    ):
        return True
    stream = NatsStream(js, lambda: 0, kind, installation)
    end = (await stream.last()).next
    if kind == BREADCRUMBS:
        async for _ in stream.tombstones(Place(0, last), end):
            return True
    if kind == CONTEXTS:
        async for context in stream.follow("contexts.>", last + 1, end):
            if context.data == STUB:
                return True
    return False


async def _holes(js: JetStreamContext, stream: str, end: int, *, is_aged: bool) -> float:
    """How many sequences up to the end hold no message; infinity for a stream that never keeps still.

    Removals above the end do not count, as of secrets that have just come.
    """
    for _ in range(LOOKS):
        with translated(f"looking at stream {stream}"):
            before = (await js.stream_info(stream)).state
            later = await _messages_from(js, stream, end + 1) if before.last_seq > end else 0
            after = (await js.stream_info(stream)).state
        if (before.last_seq, before.messages) == (after.last_seq, after.messages):
            return _count(min(before.first_seq, end + 1), end, before.messages - later, is_aged=is_aged)
    return float("inf")


def _count(first: int, last: int, messages: int, *, is_aged: bool) -> int:
    return last - messages - (max(first - 1, 0) if is_aged else 0)


async def _messages_from(js: JetStreamContext, stream: str, start: int) -> int:
    info = await js.add_consumer(stream, walk_from(start))
    await js.delete_consumer(stream, info.name)
    return int(info.num_pending or 0)
