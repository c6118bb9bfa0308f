"""A context as an agent receives it; unknown fields are ignored."""

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from builder.client.omissions import Omission, omission_note, read_omissions
from builder.domain.errors import Rejected
from builder.domain.json_values import JsonObject
from builder.wire.subjects import session_text, session_token

Latest = OrderedDict[tuple[str, str], int]
"""Highest trigger_seq by workspace and session, the most recent last."""
MAX_SESSIONS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedContext:
    """An `agent.context.v1`."""

    content: str
    """Markdown for the prompt."""
    token_count: int
    """True tokens."""
    workspace: str
    session_id: str
    """As the client was given it."""
    consumer_id: str
    trigger_event_id: str
    trigger_seq: int
    supersedes: str = ""
    """Id of the speaker's previous context, if unanswered: this page contains its message."""
    questions: tuple[str, ...] = ()
    """Ids of the user messages that a response answers, oldest first."""
    late: bool
    """You already received the context of a later message."""
    event: JsonObject
    trace: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Trace context as W3C headers; responses to the context belong to this trace."""
    steps: set[int] = field(default_factory=set, repr=False, compare=False)
    """Steps of responses sent or found through this delivery."""

    @property
    def id(self) -> str:
        """UUIDv5 of workspace, session, trigger and consumer."""
        return str(self.event["id"])

    @property
    def is_over(self) -> bool:
        """All its questions are answered, deleted, or on a later context: skip it."""
        return bool(self.event.get("is_over"))

    @property
    def agent_id(self) -> str:
        """Responses are sent in its name."""
        return str(self.event.get("agent_id") or self.consumer_id)

    @property
    def omitted(self) -> tuple[Omission, ...]:
        """Breadcrumbs that the page leaves out, the 50 most relevant first, and then those that it cuts."""
        return read_omissions(self.event)

    @property
    def omission_note(self) -> str:
        """How many breadcrumbs the page leaves out, with the likeliest answer, in a line; "" = none."""
        return omission_note(self.event)

    @property
    def messages(self) -> list[Any]:
        """The page in the profile's `chat_format`, a list for the SDK. Raises `Rejected` without one."""
        if self.event.get("messages") is None:
            raise Rejected(
                f"the context for {self.consumer_id!r} has no messages: its profile has no chat_format, or they made the event "
                f"too large; write chat_format: openai, anthropic or responses in profiles/{self.consumer_id}.yaml"
            )
        return cast("list[Any]", self.event["messages"])

    @property
    def system(self) -> list[Any]:
        """Anthropic's, beside its messages; empty in other formats."""
        return cast("list[Any]", self.event.get("system") or [])

    @property
    def session_token(self) -> str:
        """The session as subjects and records have it."""
        return session_token(self.session_id)


def read(data: bytes, recipient: tuple[str, str], latest: Latest, max_sessions: int = MAX_SESSIONS) -> ReceivedContext:
    """recipient: workspace and consumer. latest: updated. Raises `Rejected`."""
    try:
        event = json.loads(data)
        session = (event["workspace"], event["session_id"])
        sequence = int(event["trigger_seq"])
        context = ReceivedContext(
            content=event["content"],
            token_count=event["token_count"],
            workspace=event["workspace"],
            session_id=session_text(event["session_id"]),
            consumer_id=event["consumer_id"],
            trigger_event_id=event["trigger_event_id"],
            trigger_seq=sequence,
            supersedes=str(event.get("supersedes") or ""),
            questions=tuple(event.get("questions") or ()),
            late=sequence < latest.get(session, 0),
            event=event,
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise Rejected(f"this is no agent.context.v1: {error!r}; see schemas/agent.context.v1.json") from error
    theirs = (context.workspace, context.consumer_id)
    if theirs != recipient:
        raise Rejected(f"this context is for {theirs!r}, not for {recipient!r}; look at who publishes on that subject")
    latest[session] = max(sequence, latest.get(session, 0))
    latest.move_to_end(session)
    if len(latest) > max_sessions:
        latest.popitem(last=False)
    return context
