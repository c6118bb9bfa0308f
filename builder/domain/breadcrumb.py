"""A breadcrumb, and its place in the stream."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

Role = Literal["user", "assistant", "tool", "standing", "other"]

NO_SESSION = "_"
"""The reserved session of breadcrumbs that belong to no conversation (tool catalogs, notes)."""


class Place(NamedTuple):
    """Where a breadcrumb stands: the only order there is.

    incarnation: creation time of the stream in µs since 1970, so a recreated stream sorts after the old one.
    sequence: the stream sequence, 1 and up.
    """

    incarnation: int
    sequence: int


ORIGIN = Place(0, 0)
"""Before every breadcrumb: the watermark of a session nobody has seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breadcrumb:
    """One stored event.

    body: the payload as canonical JSON text; only hint templates look into it.
    text: what was said, for search; may be empty.
    created_at: the sender's clock; received_at: the stream's clock. Both aware UTC.
    calls: request ids of tool calls that this breadcrumb makes, or the one it answers.
    """

    workspace: str
    session: str
    id: str
    version: int
    place: Place
    schema: str
    speaker: str
    role: Role
    user_id: str = ""
    """Who the person is, by the sender's own id; never the display name. "" = unknown."""
    created_at: datetime
    received_at: datetime
    utc_offset: int | None = None
    """Minutes east of UTC of the sender's clock at `created_at`; None = the sender said none."""
    tags: tuple[str, ...] = ()
    body: str
    text: str
    calls: tuple[str, ...] = ()
    removes: str = ""
    """For a tombstone (`breadcrumb.deleted.v1`): the id that it removes from its place on.

    A secret, and what is left of a forgotten breadcrumb, name themselves: nothing of them is known, shown or answered.
    """
    answers: str = ""
    """For a response: the id of the breadcrumb that triggered it."""
    pointers: tuple[str, ...] = ()
    """Bare tags and entity keywords: searched by their words, never shown."""
    expires_at: datetime | None = None
    """From this moment of the stream's clock on nobody sees it."""
    task: str = ""
    """The task that it belongs to: its body's `task_id`, else its tag `task:ID`."""
    tool: str = ""
    """For a tool's request, response or error: the tool's name."""
    failed: bool = False
    """For a tool's response or error: the call failed."""
    call_signatures: tuple[str, ...] = ()
    """For each of `calls` that it makes: tool and arguments as one canonical text; empty for a result."""
    covers: tuple[str, ...] = ()
    """For a summary: the ids that it stands for, in versions that no earlier summary of its chain does."""

    @property
    def joins_by(self) -> str:
        """For a tool's answer of no session: the request id by which it joins the session that asked; else "".

        It joins the only session that had asked under it by then. Where several had, nobody knows whose it is, and it joins none.
        """
        return self.calls[0] if self.session == NO_SESSION and self.calls and not self.call_signatures else ""

    @property
    def may_join(self) -> bool:
        """Whether it is such an answer, or a later version of what may be one: that joins where the first one did."""
        return bool(self.joins_by) or (self.session == NO_SESSION and self.version > 1)

    @property
    def asks_for(self) -> tuple[str, ...]:
        """The request ids whose answers join its session; what asks in no session only passes a call on."""
        return self.calls if self.session != NO_SESSION and self.call_signatures else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMessage:
    """Bytes as the stream holds them, before anybody has read them."""

    subject: str
    data: bytes
    place: Place
    received_at: datetime
    replay: bool = False
    """True for imports (header `Context-Builder-Replay`): remembered, never a trigger."""
    deliveries: int = 1
    """How often the broker has handed it over, this time included."""
