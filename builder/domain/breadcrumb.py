"""A breadcrumb, and its place in the stream."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, NamedTuple

Role = Literal["user", "assistant", "system", "tool", "standing", "other"]
Kind = Literal["content", "tombstone", "secret", "erased", "moved"]

USER_MESSAGE, AGENT_RESPONSE = "user.message.v1", "agent.response.v1"
TOOL_REQUEST, TOOL_RESPONSE, TOOL_ERROR = "tool.request.v1", "tool.response.v1", "tool.error.v1"
SUMMARY, TOMBSTONE, MOVE = "summary.v1", "breadcrumb.deleted.v1", "breadcrumb.moved.v1"
AGENT_CONTEXT, CONTEXT_COMPACTED = "agent.context.v1", "context.compacted.v1"
"""Names of the schemas that the service itself treats in a special way."""

NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of what nobody knows the time of: a page has no date for it."""

NO_SESSION = "_"
"""The reserved session of breadcrumbs that belong to no conversation (tool catalogs, notes)."""


class Place(NamedTuple):
    """The position in the stream: what came before what."""

    incarnation: int
    """Creation time of the stream in µs since 1970, so a recreated stream sorts after the old one."""
    sequence: int

    @property
    def previous(self) -> "Place":
        """The place before it."""
        return Place(self.incarnation, self.sequence - 1)

    @property
    def next(self) -> "Place":
        """The place after it."""
        return Place(self.incarnation, self.sequence + 1)


ORIGIN = Place(0, 0)
"""Before every breadcrumb: the watermark of a new session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breadcrumb:
    """One stored event."""

    workspace: str
    session: str
    id: str
    version: int
    place: Place
    schema: str
    speaker: str
    role: Role
    user_id: str = ""
    """The person, by the sender's own id; never the display name. "" = unknown."""
    created_at: datetime
    """The sender's clock, aware UTC."""
    received_at: datetime
    """The stream's clock, aware UTC."""
    utc_offset: int | None = None
    """Minutes east of UTC of the sender's clock at `created_at`; None = the sender gave none."""
    tags: tuple[str, ...] = ()
    body: str
    """The payload as JSON text, keys in the order of their sender; only hint templates read it."""
    text: str
    calls: tuple[str, ...] = ()
    """Request ids of the tool calls that it makes, or of the one that it answers."""
    removes: str = ""
    """The id that it takes off every page from its place on: another one for a tombstone, its own for a secret and a trace."""
    is_erased: bool = False
    answers: str = ""
    """For a response: the id of the breadcrumb that triggered it."""
    pointers: tuple[str, ...] = ()
    """Bare tags and entity keywords: searched by their words, never shown."""
    expires_at: datetime | None = None
    """The moment of the stream's clock from which on it is hidden."""
    task: str = ""
    """The task that it belongs to: its body's `task_id`, else its tag `task:ID`."""
    tool: str = ""
    """For a tool's request, response or error: the tool's name."""
    failed: bool = False
    """For a tool's response or error: the call failed."""
    call_signatures: tuple[str, ...] = ()
    """For each of `calls` that it makes: tool and arguments as one JSON text; empty for a result."""
    private: bool = False
    """Kept out of the memory of its person; of the first breadcrumb of a session: the whole session is."""
    covers: tuple[str, ...] = ()
    """For a summary: the ids that it stands for, in versions that no earlier summary of its chain does."""
    hints: str = ""
    """Its sender's `llm_hints` as canonical JSON text; "" = none. They are data until a profile trusts them."""
    creator: str = ""
    """The id of who wrote it, as its sender says; "" = unknown."""
    agent: str = ""
    """The agent that says or calls it, by its body's `creator.agent_id`; "" = unknown."""
    to: tuple[str, ...] = ()
    """The agents that it is addressed to; () = everybody."""
    replay: bool = False
    """A message that was imported: it stands where it was said, by `created_at`, and not where it came."""

    @property
    def kind(self) -> Kind:
        """Content, or what hides breadcrumbs: a tombstone or a move another one, a secret or a trace its earlier versions."""
        if self.is_erased:
            return "erased"
        if self.removes == self.id:
            return "secret"
        if self.schema == MOVE:
            return "moved"
        return "tombstone" if self.removes else "content"

    @property
    def call_names(self) -> tuple[str, ...]:
        """`calls`, each by a name of its own: the second one under an id of its message is `ID-2`, by place."""
        if len(set(self.calls)) == len(self.calls):
            return self.calls
        names: list[str] = []
        for number, call in enumerate(self.calls):
            name, place = call, self.calls[: number + 1].count(call)
            while name in names or (name != call and name in self.calls):
                name, place = f"{call}-{place}", place + 1
            names.append(name)
        return tuple(names)

    @property
    def joins_by(self) -> str:
        """The request id by which a tool result without a session joins the only session that made the call; else ""."""
        return self.calls[0] if self.session == NO_SESSION and self.calls and not self.call_signatures else ""

    @property
    def may_join(self) -> bool:
        """True for a tool result without a session, and for later versions of one."""
        return bool(self.joins_by) or (self.session == NO_SESSION and self.version > 1)

    @property
    def asks_for(self) -> tuple[str, ...]:
        """The request ids whose results join its session."""
        return self.calls if self.session != NO_SESSION and self.call_signatures else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMessage:
    """Bytes of the stream before they are decoded."""

    subject: str
    data: bytes
    place: Place
    received_at: datetime
    replay: bool = False
    """True for imports (header `Context-Builder-Replay`): remembered, never a trigger."""
    deliveries: int = 1
    """How often it was delivered, this time included."""
    trace: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Trace context of its sender, as headers."""
