"""Contexts: how they are published, read, and fetched by agents."""

from datetime import datetime
from typing import NamedTuple, Protocol

from builder.domain.breadcrumb import StreamMessage
from builder.domain.context import Context


class PublishedEvent(NamedTuple):
    """A context as the stream holds it."""

    data: bytes
    times: str
    """How long the parts of its delivery took, as `domain.reports.times_text` wrote it."""


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
