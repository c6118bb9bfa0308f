"""What each request takes and answers: the JSON Schemas in the AsyncAPI document and in the micro service's metadata."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import ModelSchema
from typing_extensions import TypedDict, override

from builder.client.received import BreadcrumbRecord, Consumer, SearchResult, SessionEnd
from builder.domain.breadcrumb import AGENT_CONTEXT
from builder.domain.identity import Identity
from builder.domain.reports import Receipt
from builder.domain.summary import CompactionResult
from builder.domain.text import one_line
from builder.extra import additions
from builder.publish.event import AgentContextV1
from builder.wire import requests
from builder.wire.forgetting import ForgetRequest
from builder.wire.identities import IdentitiesRequest
from builder.wire.responses import Response

URN = "urn:context-builder:schema:"


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
    "refresh": (requests.RefreshRequest, AgentContextV1),
}
"""Verb of the house → model of the request, type of the answer."""


class Untitled(GenerateJsonSchema):
    """Titles would repeat the fields' names."""

    @override
    def field_title_should_be_set(self, schema: CoreSchema | Any) -> Literal[False]:
        return False


class _ByName(Untitled):
    """A context is named by the `$id` of its file in `schemas/`: else a description of the service had six copies of it."""

    @override
    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        reference = {"type": "object", "title": AGENT_CONTEXT, "description": f"{URN}{AGENT_CONTEXT}"}
        return reference if schema["cls"] is AgentContextV1 else super().model_schema(schema)


@cache
def verbs() -> Mapping[str, tuple[type[BaseModel], Any]]:
    """As `VERBS`, those of extras too."""
    return VERBS | {name: (each.model, each.answer) for name, each in additions("requests").items()}


@cache
def metadata() -> dict[str, dict[str, str]]:
    """Verb → description, and the JSON Schemas of request and answer, as texts: ADR-32 allows nothing else."""
    return {
        verb: {
            "description": (request.__doc__ or "").partition("\n")[0],
            "request_schema": one_line(request.model_json_schema(schema_generator=Untitled)),
            "response_schema": one_line(TypeAdapter(answer).json_schema(mode="serialization", schema_generator=_ByName)),
        }
        for verb, (request, answer) in verbs().items()
    }
