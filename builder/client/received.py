"""A context as an agent gets it."""

import json
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from builder.domain.errors import Rejected
from builder.wire.session_names import session_text, session_token

Latest = OrderedDict[tuple[str, str], int]
"""Highest trigger_seq by workspace and session, the most recent session at the end."""
MAX_SESSIONS = 10_000
"""Sessions whose order is remembered: bounds the memory of an agent that runs for years."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedContext:
    """An `agent.context.v1`."""

    content: str
    """The markdown for the prompt."""
    token_count: int
    """True tokens of it."""
    workspace: str
    session_id: str
    """The session by its text, as it was given to the client."""
    consumer_id: str
    trigger_event_id: str
    trigger_seq: int
    supersedes: str = ""
    """Id of the context of the same speaker's message before, when no answer had come to it: this page has that message too."""
    late: bool
    """A context of a later message of this session was handed out before: several workers may finish out of order."""
    system: list[dict[str, Any]]
    """Anthropic's `system`, beside its messages."""
    messages: list[dict[str, Any]]
    """The same for a chat API, with `chat_format: openai` or `anthropic` in the profile; else empty."""
    event: dict[str, Any]
    """The whole event."""
    steps: set[int] = field(default_factory=set, repr=False, compare=False)
    """Of the responses that were sent or found through this delivery."""

    @property
    def id(self) -> str:
        """UUIDv5 of workspace, session, trigger and consumer."""
        return str(self.event["id"])

    @property
    def agent_id(self) -> str:
        """The agent that answers: what is sent to this context is said in its name."""
        return str(self.event.get("agent_id") or self.consumer_id)

    @property
    def session_token(self) -> str:
        """The session as subjects and records have it."""
        return session_token(self.session_id)


def read(data: bytes, recipient: tuple[str, str], latest: Latest, max_sessions: int = MAX_SESSIONS) -> ReceivedContext:
    """Bytes → context, tolerant of unknown fields. recipient: workspace and consumer. latest: updated here.

    Raises `Rejected` when it is no `agent.context.v1`, or has another recipient.
    """
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
            late=sequence < latest.get(session, 0),
            system=list(event.get("system") or ()),
            messages=list(event.get("messages") or ()),
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
