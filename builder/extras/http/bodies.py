"""Bodies of requests and answers that only this door has, and an example of each operation."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from builder.client.asking import CONTEXT_SECONDS
from builder.remember.record import MAX_VERSION, AgentName, Ending, SentMoment
from builder.remember.schemas.base import UserId
from builder.wire.forgetting import ForgetRequest
from builder.wire.requests import (
    HistoryRequest,
    Number,
    SessionsRequest,
)

for _model in (ForgetRequest, HistoryRequest, SessionsRequest):
    # Agents import these and build none; pydantic warns of what FastAPI builds at the first request.
    _model.model_config["defer_build"] = False
    _model.model_rebuild()

_TIME = "2026-11-21T10:00:00Z"


class _Sending(BaseModel):
    session: str = Field(min_length=1, max_length=1000, description="the conversation, by any name")
    user_id: UserId | None = Field(None, description="your id of the user")
    created_at: SentMoment = Field(None, description="the sender's clock, with its offset; default is the stream's")
    tags: list[str] = Field([], max_length=1000)
    ttl: Ending | None = Field(None, description="when it ends: a moment, or seconds")
    memory: bool = Field(True, strict=True, description="false keeps it out of the user's memory")


class AskRequest(_Sending):
    """What a user says, and for whom the context is."""

    model_config = ConfigDict(extra="forbid")
    content: str | list[str | dict[str, Any]] = Field(
        min_length=1,
        json_schema_extra={"minItems": 1},
        description="what the user says: a text, or content parts of any vendor",
    )
    consumer: str = Field("default", min_length=1, max_length=128, description="the agent whose context it is")
    timeout: float = Field(30, ge=1, le=CONTEXT_SECONDS, strict=True, description="seconds to wait for the context")
    id: str = Field(
        "", max_length=256, description="id of the message; the same id again waits for the same context. Default: new"
    )
    speaker: str = Field("", max_length=200, description="display name")


class NoteRequest(_Sending):
    """A note."""

    model_config = ConfigDict(extra="forbid")
    session: str = Field("_", min_length=1, max_length=1000, description="the conversation; none = every one finds it")
    content: str | list[str | dict[str, Any]] = Field(
        min_length=1, json_schema_extra={"minItems": 1}, description="what is remembered, as in a message"
    )


class MessageRequest(_Sending):
    """A breadcrumb of any schema. Further fields of a record, as `title` or `sensitivity`, are taken as they are."""

    model_config = ConfigDict(extra="allow")
    schema_name: str = Field(min_length=1, description="schema, as user.message.v1")
    context: dict[str, Any] = Field(description="the body; its schema is the file schemas/<schema_name>.json")
    id: str = Field("", max_length=256, description="id; the same id again changes nothing. Default: new")
    version: Number = Field(1, ge=1, le=MAX_VERSION, description="+1 with every update; only version 1 triggers")
    to: AgentName | list[AgentName] = Field([], description="the agents that it is addressed to; none = everybody")


class Sent(BaseModel):
    """A breadcrumb is in the stream."""

    id: str
    session: str
    seq: int = Field(description="its sequence in the stream")
    duplicate: bool = Field(description="the stream had it already")


class Piece(BaseModel):
    """A piece of a long message."""

    text: str = Field(description="the first line says the range and the next offset")


_QUESTION = {"session": "s42", "content": "Where do I set the API key?", "user_id": "maya"}
_RECORD = {"id": "m110", "schema_name": "user.message.v1", "session": "s42", "context": {"content": _QUESTION["content"]}}
_PLACE = {"session": "s42", "seq": 118, "created_at": _TIME}
_TEXT = {"schema_name": "user.message.v1", "speaker": "User", "user_id": "maya", "text": _QUESTION["content"]}
_BREADCRUMB = {
    "id": "m110", **_PLACE, **_TEXT, "version": 1, "workspace": "default", "expires_at": None, "tags": [],
    "context": {"content": _QUESTION["content"]},
}  # fmt: skip
_RECEIPT = {"workspace": "default", "session": "s42", "id": "m110", "by": "maya", "versions": 1, "at": _TIME}

EXAMPLES: dict[str, tuple[Any, Any]] = {
    "ask": (_QUESTION, None),
    "context": (None, None),
    "events": (None, 'id: 1763719200000000.7\nevent: context\ndata: {"content": "…"}\n\n'),
    "omitted": (None, {"text": "[characters 0 to 27 of 27, the end]\nWhere do I set the API key?"}),
    "omissions": (
        None,
        {
            "trigger": "m110",
            "count": 12,
            "tokens": 3401,
            "omitted": [{"id": "m17", "reason": "over budget", "tokens": 41, "shown": 0, "probability": 0.04}],
        },
    ),
    "send": (_RECORD, {"id": "m110", "session": "s42", "seq": 118, "duplicate": False}),
    "remember": ({"content": "Glaze batch 7 needs two coats."}, {"id": "n7", "session": "_", "seq": 119, "duplicate": False}),
    "sessions": (None, {"sessions": [_PLACE], "next": None}),
    "history": (None, {"breadcrumbs": [_BREADCRUMB], "next": None}),
    "fetch": (None, _BREADCRUMB),
    "forget": ({"id": "m110", "by": "maya"}, {"receipts": [_RECEIPT], "rest": 0, "dead_letters": 0}),
    "export": (None, '{"id": "m110", "schema_name": "user.message.v1", "session": "s42", "context": {"content": "…"}}\n'),
}
"""Operation → a request's body and an answer."""
