"""The broker: the stream of breadcrumbs, and what leaves the service."""

from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime
from typing import NamedTuple, Protocol

from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.context import Context


class PublishedEvent(NamedTuple):
    """A context as the stream holds it."""

    data: bytes
    times: str
    """How long the parts of its delivery took, as `domain.reports.times_text` wrote it."""


class Stream(Protocol):
    """Reads the stream beside the subscription, for catch-up. All methods raise `Unavailable`."""

    async def last(self) -> Place:
        """The position of the newest breadcrumb."""

    def tombstones(self, after: Place, until: Place) -> AsyncIterator[StreamMessage]:
        """The tombstones of all workspaces between two positions, both exclusive, in order."""

    async def get(self, sequence: int) -> StreamMessage | None:
        """The message of a sequence; None = the stream does not hold it."""

    async def newest(self, workspace: str, session: str, schema: str = "") -> int:
        """Sequence of the newest message of a session; 0 = none. schema: only of this one."""

    def walk(self, workspace: str, session: str, after: Place, until: Place, schema: str = "") -> AsyncIterator[StreamMessage]:
        """Breadcrumbs of the session, or of EVERY_SESSION, with `after` < place < `until`, in order. schema: only of this one."""


class Sighting(NamedTuple):
    """A published context that names some of the ids that were asked for."""

    sequence: int
    subject: str
    ids: frozenset[str]


EVERY_ID = ""
"""Counts what was deleted whatever its id."""


class Archive(Protocol):
    """Deletes from the streams, beyond recovery. All methods raise `Unavailable` and may be repeated.

    ids: of one workspace; session: theirs, NO_SESSION = any.
    """

    async def delete_breadcrumbs(self, workspace: str, session: str, ids: frozenset[str], until: Place) -> Counter[str]:
        """Delete every message of these breadcrumbs below the place; returns how many of each."""

    async def delete_at(self, place: Place, workspace: str, session: str, identity: str = "") -> bool:
        """Delete the message at this place; False when the stream no longer holds it, or holds another session's there.

        identity: only when the message is a record of this id.
        """

    async def delete_letters(
        self, workspace: str, session: str, ids: frozenset[str] | None, after: int = 0
    ) -> tuple[Counter[str], int]:
        """Delete the dead letters that are about them, and the messages that these name, from the sequence behind `after` on.

        Returns how many letters of each id, and the last sequence that was read. ids: None = all of the session, as `EVERY_ID`.
        """

    async def contexts_with(self, workspace: str, ids: frozenset[str], after: int = 0) -> tuple[tuple[Sighting, ...], int]:
        """The published contexts behind a sequence that name one of them, and the last sequence that was read."""

    async def replace_context(self, sequence: int, subject: str) -> None:
        """Delete the context, and put a stub in its place, so that no second one can follow. sequence: 0 = only the stub."""


class PublishedContexts(Protocol):
    """Reads published contexts. All methods raise `Unavailable`; None = there is none, or it was erased."""

    async def last_context(self, workspace: str, consumer: str, session: str) -> PublishedEvent | None:
        """The newest one of a consumer in a session."""

    async def context(self, workspace: str, consumer: str, session: str, identity: str) -> PublishedEvent | None:
        """The one with this id (`domain.context.context_id`)."""


class Publisher(Protocol):
    """Publishes contexts and dead letters."""

    async def publish(self, context: Context, event: bytes, times: str) -> None:
        """Raises `AlreadyPublished` when the server holds a context with this id, `Unavailable` when it cannot be reached.

        Plain subscribers receive an event even when the server refuses it; call `holds` before a second attempt. times: kept
        beside the event, whose bytes depend on its message alone.
        """

    async def holds(self, context: Context) -> bool:
        """Whether the server holds a context with this id, or the stub of an erased one. Raises `Unavailable`."""

    async def announce(self, context: Context) -> None:
        """Send `context.compacted.v1` to subscribers when tool results were folded in a published context. Raises `Unavailable`.

        The event is not stored. A context without folded results sends none.
        """

    async def dead_letter(self, arrival: StreamMessage, reason: str, consumer: str = "") -> None:
        """Store a rejected message with its reason, subject and sequence, once a place. Raises `Unavailable`.

        consumer: the agent that gave its context up, once for each; "" = the service rejected it.
        """


class Durables(Protocol):
    """By which agents fetch their contexts."""

    async def make(self, workspace: str, consumer: str, name: str, since: datetime | None, ack_wait: float) -> tuple[str, bool]:
        """Stream, and whether it is new: an existing one stays where it is, but for its `ack_wait` in seconds.

        since: where a new one begins, None = with the next context. Raises `Rejected` for one that hears something else, and
        `Unavailable`.
        """

    async def listening(self, workspace: str, consumer: str) -> int:
        """How many processes fetch the consumer's contexts now, or have one in work. Raises `Unavailable`."""


class Sender(Protocol):
    """Sends breadcrumbs of the service's own: they enter the store through the stream."""

    async def send(self, subject: str, data: bytes, message_id: str, *, triggers: bool = False) -> StreamMessage:
        """Publish and return the stored message. Raises `Unavailable`. triggers: the breadcrumb may ask for contexts.

        A message id that is sent twice within the server's window is one breadcrumb: the first message is returned, even if its
        text differs. Raises `Rejected` when that message has another subject.
        """


class Delivery(Protocol):
    """One delivery of a stream message, settled exactly once by the worker. Settling never raises."""

    @property
    def arrival(self) -> StreamMessage:
        """The message."""

    async def ack(self) -> None:
        """Settle: it was processed."""

    async def retry(self, delay: float) -> None:
        """Settle: the broker delivers it again after `delay` seconds."""

    async def reject(self) -> None:
        """Settle: the broker never delivers it again."""

    async def keep_alive(self) -> None:
        """Tell the broker that processing goes on."""
