"""The stream of breadcrumbs: what is delivered, read beside the subscription, and sent."""

from collections.abc import AsyncIterator
from typing import Protocol

from builder.domain.breadcrumb import Place, StreamMessage


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
