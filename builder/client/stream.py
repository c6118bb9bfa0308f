"""Reads of single messages of the stream BREADCRUMBS.

The stream's leader answers them (0.5 ms each on loopback; a direct get takes half of that): a lagging replica may lack a tool's
result, and a new answer would be taken for a stored one.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg, StreamInfo
from nats.js.errors import NotFoundError

from builder.client.connecting import translated
from builder.domain.breadcrumb import Place, StreamMessage
from builder.wire.subjects import DEFAULT, Installation, plain_subject

BREADCRUMBS = "BREADCRUMBS"


class StreamReader:
    """Messages as the stream keeps them; places have incarnation 0. Methods raise `Unavailable`."""

    def __init__(self, js: JetStreamContext, installation: Installation = DEFAULT) -> None:
        """js: of an open connection."""
        self._js = js
        self._subject = installation.subject
        self._stream = installation.stream(BREADCRUMBS)

    async def at(self, sequence: int) -> StreamMessage | None:
        """The message of a sequence; None when it was deleted."""
        return await self._get(seq=sequence)

    async def last(self, subject: str) -> int:
        """Sequence of the newest message on a subject; 0 = there is none."""
        newest = await self._get(subject=subject)
        return newest.place.sequence if newest else 0

    async def info(self) -> StreamInfo:
        """The state of the stream."""
        with translated(f"reading the state of {self._stream} failed", "has the service run once on this broker?"):
            return await self._js.stream_info(self._stream)

    async def behind(self, subject: str, sequence: int) -> AsyncIterator[StreamMessage]:
        """The messages on a subject behind a sequence, in the stream's order."""
        while (arrival := await self._get(seq=sequence + 1, subject=subject, next=True)) is not None:
            yield arrival
            sequence = arrival.place.sequence

    async def _get(self, *, seq: int | None = None, subject: str | None = None, next: bool = False) -> StreamMessage | None:  # noqa: A002 - nats-py's
        full = None if subject is None else self._subject(subject)
        with translated(f"reading {full or f'message {seq}'} of {self._stream} failed", "has the service run on this broker?"):
            try:
                return _arrival(await self._js.get_msg(self._stream, seq=seq, subject=full, next=next))
            except NotFoundError:
                return None


def _arrival(message: RawStreamMsg) -> StreamMessage:
    return StreamMessage(
        subject=plain_subject(message.subject or ""),
        data=message.data or b"",
        place=Place(0, message.seq or 0),
        received_at=message.time or datetime.fromtimestamp(0, UTC),
    )
