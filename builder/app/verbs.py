"""What each request takes and answers, as the doors describe it."""

from typing import Any, Literal

from pydantic import BaseModel
from typing_extensions import TypedDict

from builder.client.consumers import Consumer
from builder.client.records import BreadcrumbRecord, SearchResult, SessionEnd
from builder.domain.erasure import Receipt
from builder.domain.identity import Identity
from builder.domain.strip import Cell
from builder.domain.summary import CompactionResult
from builder.publish.event import AgentContextV1
from builder.wire import requests
from builder.wire.forgetting import ForgetRequest
from builder.wire.identities import IdentitiesRequest
from builder.wire.responses import Response


class Breadcrumbs(TypedDict):
    """A page of a history."""

    breadcrumbs: list[BreadcrumbRecord]
    next: str | None


class Sessions(TypedDict):
    """A page of sessions."""

    sessions: list[SessionEnd]
    next: str | None


class Passages(TypedDict):
    """Of a search, the most probable first."""

    passages: list[SearchResult]


class Consumers(TypedDict):
    """All consumers, and what is wrong with the records that make some."""

    consumers: list[Consumer]
    findings: list[dict[str, Any]]


class Receipts(TypedDict):
    """Of a forgetting; none = it was forgotten before.

    rest: breadcrumbs of the person or the session that the same request forgets next. dead_letters: of the session, beside those
    of the receipts.
    """

    receipts: list[Receipt]
    rest: int
    dead_letters: int


class Responses(TypedDict):
    """An agent's responses to a context by step, its answers on others by message, forgotten ids, and the session's end."""

    responses: list[Response]
    others: dict[str, Response]
    forgotten: list[str]
    last: int
    is_answered_by_others: bool
    has_gone_on: bool


class Difference(TypedDict):
    """Fields in which two records differ, in one text; "" = none. is_there: whether the stream has one under that id."""

    is_there: bool
    fields: str
    subject: str


class Durable(TypedDict):
    """Stream and name of a durable, and when it was made by the broker's clock; null = it was there."""

    stream: str
    name: str
    made_at: str | None


class Listeners(TypedDict):
    """How many processes fetch a consumer's contexts now."""

    listening: int


class Identities(TypedDict):
    """Id → what stands under it, of the ids that are known."""

    identities: dict[str, Identity]


class Nothing(TypedDict):
    """It is done."""


class Rebuilt(TypedDict):
    """Names the context that was built again."""

    context: str
    trigger: str
    session: str
    consumer: str
    tokens: int
    is_same: bool | None
    notes: list[str]


class Explanation(Rebuilt):
    """The page with its receipt, and the milliseconds of its parts."""

    content: str
    receipt: dict[str, Any]
    times: dict[str, int]


class SectionSize(TypedDict):
    """A section of the page."""

    name: str
    tokens: int


class SessionStrip(Rebuilt):
    """The session in cells, beside the page."""

    content: str
    budget: int
    sections: list[SectionSize]
    cells: list[Cell]
    earlier: int


class Reason(Rebuilt):
    """Why a breadcrumb is on the page, or not."""

    sentence: str


class Comparison(Rebuilt):
    """A context as it was and as it is built now, and templates that failed."""

    before: AgentContextV1
    after: AgentContextV1
    failures: list[dict[str, Any]]


class Failure(TypedDict):
    """In place of an answer: what happened, the value, what to do."""

    error: str
    kind: Literal["rejected", "unavailable"]


VERBS: dict[str, tuple[type[BaseModel], Any]] = {
    "fetch": (requests.FetchRequest, BreadcrumbRecord),
    "history": (requests.HistoryRequest, Breadcrumbs),
    "sessions": (requests.SessionsRequest, Sessions),
    "identities": (IdentitiesRequest, Identities),
    "context": (requests.ContextRequest, AgentContextV1),
    "consumers": (requests.ConsumersRequest, Consumers),
    "compact": (requests.CompactRequest, CompactionResult),
    "fail": (requests.FailRequest, Nothing),
    "forget": (ForgetRequest, Receipts),
    "responses": (requests.ResponsesRequest, Responses),
    "difference": (requests.DifferenceRequest, Difference),
    "durable": (requests.DurableRequest, Durable),
    "listeners": (requests.ListenersRequest, Listeners),
    "search": (requests.SearchRequest, Passages),
    "explain": (requests.ExplainRequest, Explanation),
    "strip": (requests.StripRequest, SessionStrip),
    "why": (requests.WhyRequest, Reason),
    "replay": (requests.ReplayRequest, Comparison),
    "refresh": (requests.RefreshRequest, AgentContextV1),
}
"""Verb → model of the request, type of the answer."""
