"""Contexts and answers of the service, frozen; unknown fields are ignored."""

import json
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Annotated, Any, TypeVar, cast

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from builder.client.omissions import Omission, omission_note, read_omissions
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Rejected, Unavailable
from builder.domain.reports import Receipt
from builder.domain.selector import Selector, matches_one, trigger_on, trigger_text
from builder.domain.text import shape
from builder.wire.subjects import session_text, session_token

Latest = OrderedDict[tuple[str, str], int]
"""Highest trigger_seq by workspace and session, the most recent last."""
MAX_SESSIONS = 10_000
T = TypeVar("T")
Session = Annotated[str, BeforeValidator(lambda token: session_text(token) if isinstance(token, str) else token)]
"""As the client was given it."""


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
    event: dict[str, Any]
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
        """What the page leaves out, the 50 most relevant first, and then what it cuts."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class BreadcrumbRecord:
    """A breadcrumb as the service has stored it."""

    id: str
    version: int
    """From 1."""
    schema: Annotated[str, Field(alias="schema_name")]
    workspace: str
    session: Session
    sequence: Annotated[int, Field(alias="seq")]
    speaker: str
    """Display name."""
    user_id: str | None
    """None = unknown."""
    created_at: datetime
    """By the sender's clock, with its offset."""
    expires_at: datetime | None
    """None = never."""
    tags: tuple[str, ...]
    to: tuple[str, ...] = ()
    """Agents that it is for; () = everybody."""
    text: str
    """Shown on pages and searched."""
    body: Annotated[dict[str, Any], Field(alias="context")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd:
    """A session, by its newest breadcrumb."""

    session: Session
    sequence: Annotated[int, Field(alias="seq")]
    created_at: datetime
    """By the sender's clock, with its offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """A passage that answers a search."""

    id: str
    """Of its breadcrumb; `fetch` gives the whole."""
    schema: Annotated[str, Field(alias="schema_name")]
    session: Session
    sequence: Annotated[int, Field(alias="seq")]
    speaker: str
    """Display name."""
    user_id: str | None
    """None = unknown."""
    created_at: datetime
    """By the sender's clock, with its offset."""
    text: str
    probability: float
    """That it answers the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Receipts:
    by: str
    receipts: tuple[Receipt, ...]
    """One per breadcrumb, in order; empty when nothing was stored."""

    @property
    def sessions(self) -> tuple[str, ...]:
        """In which something was erased, sorted."""
        return tuple(sorted({receipt.session for receipt in self.receipts}))

    @property
    def summaries(self) -> tuple[str, ...]:
        """Ids of summaries made from the erased breadcrumbs, sorted."""
        return tuple(sorted({summary for receipt in self.receipts for summary in receipt.summaries}))


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReceipt(_Receipts):
    """Everything erased for a person."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReceipt(_Receipts):
    """Everything erased of a session."""

    session: str
    other_letters: int
    """Dead letters of the session that are about none of the breadcrumbs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """An agent that a profile of the service names."""

    name: str
    triggers: tuple[str | Selector, ...]
    """Empty = nothing causes a context."""
    audience: Selector | None = None
    """The breadcrumbs that may cause one; None = all."""
    origin: str = ""
    """The profile file, or the records, that make it."""
    agent: str = ""
    """Empty = the consumer's name (older service)."""

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The triggers, each as a selector."""
        return tuple(trigger_on(each) if isinstance(each, str) else each for each in self.triggers)

    def refusal(self, breadcrumb: Breadcrumb) -> str:
        """Why a breadcrumb causes no context; "" = it causes one."""
        if not self.triggers:
            return f"no contexts come for {self.name!r}: its profile has no triggers; add one"
        if not matches_one(self.selectors, breadcrumb):
            names = ", ".join(map(trigger_text, self.selectors))
            return (
                f"no context comes for {self.name!r} on a {breadcrumb.schema}: its profile has the triggers {names}; add it there"
            )
        if self.audience is not None and not self.audience.matches(breadcrumb):
            return (
                f"no context comes for {self.name!r}: the audience of its profile leaves this {breadcrumb.schema} out; "
                "send the tags that it names, or change it"
            )
        return ""


def read_receipt(answer: Any) -> Receipt:
    """With the session by its text. Raises `Unavailable`."""
    receipt = read_result(Receipt, answer)
    return replace(receipt, session=session_text(receipt.session))


def read_result(kind: type[T], answer: Any) -> T:
    """Raises `Unavailable` for the answer of another service."""
    try:
        result: T = _adapter(cast("Hashable", kind)).validate_python(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        raise Unavailable(
            f"the answer of the service is no {kind.__name__}: {first['msg']} at {where}, got {shape(first['input'])}; "
            "install the client and the service in the same version"
        ) from error
    return result


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("type[Any]", kind))
