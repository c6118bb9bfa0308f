"""The table of requests, and what each answers."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal

from typing_extensions import TypedDict

from builder.app.access import AccessControl
from builder.app.context_event import AgentContextV1
from builder.domain.erasure import Receipt
from builder.domain.errors import Rejected
from builder.domain.identity import Identity
from builder.domain.json_values import JsonObject
from builder.extra import Request, additions
from builder.wire import requests
from builder.wire.breadcrumb_records import BreadcrumbRecord, SearchResult, SessionEnd
from builder.wire.consumers import Consumer
from builder.wire.forgetting import ForgetRequest
from builder.wire.responses import Response
from builder.worker import request_handlers, responses
from builder.worker.forget_requests import forget
from builder.worker.refresh import refresh
from builder.worker.requests import Host
from builder.worker.search import search


class Breadcrumbs(TypedDict):
    """A page of a history."""

    breadcrumbs: list[BreadcrumbRecord]
    next: str | None


class Sessions(TypedDict):
    """A page of sessions."""

    sessions: list[SessionEnd]
    next: str | None


class Passages(TypedDict):
    """The results of a search, the most probable first."""

    passages: list[SearchResult]


class Consumers(TypedDict):
    """All consumers, and what is wrong with the records that make some."""

    consumers: list[Consumer]
    findings: list[JsonObject]


class Receipts(TypedDict):
    """The receipts of a forgetting; none = it was forgotten before.

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


class Failure(TypedDict):
    """In place of an answer: what happened, the value, what to do."""

    error: str
    kind: Literal["rejected", "unavailable"]


async def _responses(host: Host, workspace: str, request: requests.ResponsesRequest) -> JsonObject:
    """As `worker.responses.responses`. Raises `Rejected` for an agent that is not the consumer's."""
    if request.consumer:
        consumers = await host.consumers.of(workspace)
        agents = {each.agent for each in consumers if each.consumer == request.consumer} or {request.consumer}
        if request.agent not in agents:
            raise Rejected(f"consumer {request.consumer!r} has the agent {', '.join(agents)}, not {request.agent!r}; name it")
    return await responses.responses(host, workspace, request)


_PASSAGE = {
    "id": "m110",
    "session": "s42",
    "seq": 118,
    "created_at": "2026-11-21T10:00:00Z",
    "schema_name": "user.message.v1",
    "speaker": "User",
    "user_id": "maya",
    "text": "Where do I set the API key?",
    "probability": 0.83,
}

REQUESTS: Mapping[str, Request] = MappingProxyType(
    {
        "fetch": Request(
            model=requests.FetchRequest,
            answer=BreadcrumbRecord,
            handler=request_handlers.fetch,
            right="read",
            has_route=False,
            narrowing=AccessControl.fetch,
        ),
        "history": Request(
            model=requests.HistoryRequest,
            answer=Breadcrumbs,
            handler=request_handlers.history,
            right="read",
            has_route=False,
            narrowing=AccessControl.history,
        ),
        "sessions": Request(
            model=requests.SessionsRequest,
            answer=Sessions,
            handler=request_handlers.sessions,
            right="read",
            has_route=False,
            narrowing=AccessControl.sessions,
        ),
        "identities": Request(model=requests.IdentitiesRequest, answer=Identities, handler=request_handlers.identities),
        "context": Request(
            model=requests.ContextRequest,
            answer=AgentContextV1,
            handler=request_handlers.context,
            right="read",
            has_route=False,
            narrowing=AccessControl.context,
        ),
        "consumers": Request(
            model=requests.ConsumersRequest,
            answer=Consumers,
            handler=lambda host, workspace, _request: host.consumers.listed(workspace),
            right="read",
            has_route=False,
            narrowing=AccessControl.consumers,
        ),
        "fail": Request(model=requests.FailRequest, answer=Nothing, handler=request_handlers.fail),
        "forget": Request(
            model=ForgetRequest,
            answer=Receipts,
            handler=forget,
            right="forget",
            has_route=False,
            narrowing=AccessControl.forget,
        ),
        "responses": Request(
            model=requests.ResponsesRequest,
            answer=Responses,
            handler=_responses,
        ),
        "difference": Request(
            model=requests.DifferenceRequest,
            answer=Difference,
            handler=responses.difference,
        ),
        "durable": Request(model=requests.DurableRequest, answer=Durable, handler=responses.durable),
        "listeners": Request(
            model=requests.ListenersRequest,
            answer=Listeners,
            handler=responses.listeners,
        ),
        "search": Request(
            model=requests.SearchRequest,
            answer=Passages,
            handler=search,
            right="read",
            narrowing=AccessControl.search,
            title="Passages that answer a question",
            description="In a session, in what a user said and heard, or everywhere.",
            example=({"text": "API key", "session": "s42", "limit": 5}, {"passages": [_PASSAGE]}),
        ),
        "refresh": Request(
            model=requests.RefreshRequest,
            answer=AgentContextV1,
            handler=refresh,
        ),
    }
)
"""The table of the house's requests: NATS subjects, rights, schemas and descriptions are made of it."""


@cache
def all_requests() -> Mapping[str, Request]:
    """As `REQUESTS`, and those of extras. Raises `Misconfigured` for a name that two have."""
    return {**REQUESTS, **additions("requests", REQUESTS)}
