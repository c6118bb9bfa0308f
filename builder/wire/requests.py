"""Requests on `requests.{workspace}.{name}`. The subject decides the workspace, and may name the consumer behind it."""

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from builder.domain.errors import Rejected
from builder.domain.json_text import shape
from builder.domain.json_values import parse

log = logging.getLogger("builder.wire.requests")
_STRICT = ConfigDict(extra="forbid", frozen=True, defer_build=True)  # agents import this file and use none
OF_AGENT = frozenset({"durable", "fail", "refresh", "responses"})
"""Requests of an agent, whose clients name its consumer in the subject: so its rights are those of no other one."""
MAX_HISTORY_PAGE = 200
MAX_SEARCH_RESULTS = 100
MAX_RESPONSES = 1_000
"""Messages of a subject after a trigger (about 0.5 s)."""
MAX_SEQUENCE = 2**53
CURSOR = r"^([0-9]{1,18}\.[0-9]{1,18})?$"
START = r"^(([0-9]{1,18}\.)?[0-9]{1,18})?$"
"""A cursor, or a sequence of the stream as it is now."""
MAX_FILES, MAX_FILE_CHARS = 200, 500_000
"""Most for a replay; the bundled files have 27,000 characters."""


def json_number(value: Any) -> Any:
    """The value. Raises ValueError for a text or a boolean."""
    if isinstance(value, bool | str):
        raise ValueError("send a number")  # noqa: TRY004 - pydantic reads a ValueError
    return value


Number = Annotated[int, BeforeValidator(json_number)]
"""An integer of JSON, which pydantic would also read out of texts."""
Request = TypeVar("Request", bound=BaseModel)


class PersonRequest(BaseModel):
    """Names a person, or nobody."""

    model_config = _STRICT
    user_id: str = ""

    @model_validator(mode="before")
    @classmethod
    def _with_former_name(cls, values: Any) -> Any:
        if not isinstance(values, Mapping) or "user" not in values or "user_id" in values:
            return values
        if values["user"]:
            _warn_of_user()
        return {"user_id" if name == "user" else name: value for name, value in values.items()}


@cache
def _warn_of_user() -> None:
    """Once in a process."""
    log.warning("a request names a person as `user`, which this release still reads; write `user_id`")


class FetchRequest(BaseModel):
    """Full text and body of a breadcrumb, by default its newest version."""

    model_config = _STRICT
    id: str = Field(min_length=1, description="id of the breadcrumb")
    version: int | None = Field(None, ge=1, description="an earlier version")


class HistoryRequest(PersonRequest):
    """Breadcrumbs of a session, or of a person in any session, in stream order, in pages."""

    session: str = Field("", description="the session")
    user_id: str = Field("", description="your id of a person, in place of a session")
    newest: bool = Field(False, description="begin at the end, the newest first")
    limit: int = Field(50, ge=1, le=MAX_HISTORY_PAGE, description="breadcrumbs of a page")
    after: str = Field("", pattern=START, description="`next` of the page before, or a sequence of the stream")


class SessionsRequest(PersonRequest):
    """Sessions of the workspace, or those in which a person has a breadcrumb, in pages; the one that spoke last comes first."""

    user_id: str = Field("", description="your id of a person; none = all sessions")
    limit: int = Field(50, ge=1, le=MAX_HISTORY_PAGE, description="sessions of a page")
    after: str = Field("", pattern=CURSOR, description="`next` of the page before")


class SearchRequest(PersonRequest):
    """Passages of a session, of a person's memory, or of the whole workspace when neither is named, the most probable first."""

    text: str = Field(min_length=1, max_length=10_000, description="the question, in words")
    session: str = Field("", description="the session that is searched")
    user_id: str = Field("", description="your id of a person: what was said by and to them, private sessions left out")
    limit: Number = Field(10, ge=1, le=MAX_SEARCH_RESULTS, description="most passages")
    before: Number = Field(0, ge=0, le=MAX_SEQUENCE, description="only what came before this stream sequence; 0 = everything")
    schemas: tuple[str, ...] = Field(
        (), max_length=100, description="schemas that are searched; none = those of the default profile"
    )


class ContextRequest(BaseModel):
    """A consumer's last context in a session, or that of `trigger`."""

    model_config = _STRICT
    consumer: str = Field("default", description="the agent")
    session: str = Field("", description="the session; the trigger's own when a trigger is named")
    trigger: str = Field("", description="id of the breadcrumb that asked for it")


class BuiltContext(BaseModel):
    """Names a context that was built."""

    model_config = _STRICT
    trigger: str = Field("", description="id of the breadcrumb that asked for it; none = the session's last context")
    consumer: str = Field("", description="the agent; may be left out where the trigger asks for one context only")
    session: str = Field("", description="the session, without a trigger or where several have a breadcrumb of this id")
    as_of: Number = Field(
        0,
        ge=0,
        le=MAX_SEQUENCE,
        description="with what came up to this stream sequence and has no context of its own; 0 = as it was published",
    )


class RefreshRequest(BuiltContext):
    """Rebuild a context with what came since, unpublished. `as_of` 0 = now."""


class FailRequest(BaseModel):
    """An agent gives up a context: a dead letter with the reason."""

    model_config = _STRICT
    consumer: str = Field(description="the agent")
    trigger: str = Field(min_length=1, description="id of the breadcrumb that asked for the context")
    session: str = Field(description="the session of the context")
    error: str = Field(max_length=10_000, description="why it was given up")


class ResponsesRequest(BaseModel):
    """An agent's responses to a context, with the results of their calls, and what it answered on others."""

    model_config = _STRICT
    agent: str = Field(min_length=1, description="the agent, as `creator.agent_id` of its responses")
    consumer: str = Field("", description="the consumer of the context; none = the agent may be any")
    session: str = Field(description="the session of the context")
    trigger: str = Field(min_length=1, description="id of the breadcrumb that asked for the context")
    trigger_seq: Number = Field(ge=0, le=MAX_SEQUENCE, description="its sequence: only what came later is read")
    with_results: bool = Field(True, strict=True, description="also the results of the calls")
    most: Number = Field(
        MAX_RESPONSES, ge=1, le=MAX_RESPONSES, description="messages of a subject above which it is refused, with results"
    )


class DifferenceRequest(BaseModel):
    """In which fields a record differs from the one under its id that the stream has."""

    model_config = _STRICT
    record: dict[str, Any] = Field(description="as it was published")
    sequence: Number = Field(ge=1, le=MAX_SEQUENCE, description="of the stored message, as the stream's acknowledgement names it")
    own_clock: bool = Field(False, strict=True, description="`created_at` is the client's clock and is not compared")


class DurableRequest(BaseModel):
    """Make the durable of a consumer, by which an agent fetches its contexts; an existing one stays where it is."""

    model_config = _STRICT
    consumer: str = Field(description="the agent")
    name: str = Field("", max_length=128, description="of the durable; none = `{workspace}={consumer}`")
    since: datetime | None = Field(None, description="contexts of a new one from this time on; null = from the next one on")
    seconds: float | None = Field(None, ge=0, description="in place of a time: from so many seconds ago, by the broker's clock")
    ack_wait: float = Field(60.0, gt=0, description="seconds until a context that nobody settles comes again")


class ListenersRequest(BaseModel):
    """How many processes fetch a consumer's contexts now. Who only subscribes without a durable is not seen."""

    model_config = _STRICT
    consumer: str = Field(description="the agent")


class ReplayRequest(BuiltContext):
    """Rebuild a context, also with another profile or files."""

    profile: str = Field("", description="profile or preset that makes the page in place of the consumer's own")
    files: dict[str, str] = Field(
        {}, description='profiles and templates by path, e.g. {"hints/note.v1.md.j2": "…"}, laid over those in force'
    )
    over_bundled: bool = Field(
        False, strict=True, description="`files` are laid over the bundled ones alone, as a folder of templates is"
    )

    @field_validator("files")
    @classmethod
    def _few(cls, files: dict[str, str]) -> dict[str, str]:
        characters = sum(map(len, files.values()))
        if len(files) > MAX_FILES or characters > MAX_FILE_CHARS:
            raise ValueError(
                f"{len(files):,} files of {characters:,} characters; allowed are {MAX_FILES} of {MAX_FILE_CHARS:,} together, "
                "so send those that differ"
            )
        return files


class ConsumersRequest(BaseModel):
    """All consumers; an empty object."""

    model_config = _STRICT


def read_request(model: type[Request], data: bytes) -> Request:
    """Raises `Rejected` with the field at fault."""
    try:
        return model.model_validate(parse(data or b"{}"))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the request"
        raise Rejected(
            f"{where}: {first['msg']}, got {shape(first['input'])}; builder/docs/protocol.md says what a request has"
        ) from error
    except ValueError as error:
        raise Rejected(f"the request is not readable JSON: {error}; send one UTF-8 JSON object") from error


def request_json(request: Mapping[str, Any]) -> bytes:
    """A request as handlers read it."""
    return json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
