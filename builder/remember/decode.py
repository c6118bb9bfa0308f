"""Bytes of the stream → breadcrumb, or `Rejected` with a reason that a person can act on."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from operator import eq
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from builder.domain.breadcrumb import Breadcrumb, StreamMessage
from builder.domain.errors import Rejected
from builder.remember.attachments import attachment_lines, without_data
from builder.remember.content import text_of
from builder.remember.hints import hints_of, schema_definition_tags, without_hints
from builder.remember.lifetimes import Ending, Lifetimes, end_of, lifetime
from builder.remember.schemas.base import Body
from builder.remember.schemas.registry import BODIES
from builder.remember.secrets import is_secret, without_content
from builder.remember.user_ids import UserId
from builder.wire.json import clean, one_line, parse, shape
from builder.wire.session_names import is_session
from builder.wire.subjects import Address, parse_breadcrumb_subject
from builder.wire.times import SentTime, sent_offset

TASK_TAG = "task:"
"""Beginning of the tag that names a breadcrumb's task."""
PRIVATE_TAG = "private"
"""The tag that keeps a breadcrumb, or the session that it opens, out of its person's memory."""
MAX_VERSION = 2**31 - 1
MAX_SPEAKER_CHARS = 200
DEFAULT_MAX_BYTES = 1_048_576
NO_LIFETIMES: Lifetimes = MappingProxyType({})

STATES = frozenset(
    {"approved", "validated", "bootstrap", "deprecated", "draft", "archived", "ephemeral", "error", "warning", "info"}
)
"""Bare tags that name the state of a breadcrumb."""

Model = TypeVar("Model", bound=BaseModel)
Value = TypeVar("Value")


def _or_none(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError:
        return None


AgentName = Annotated[str, Field(min_length=1, max_length=MAX_SPEAKER_CHARS)]
Tolerant = Annotated[Value | None, WrapValidator(_or_none)]
"""Of another type it is as good as missing."""


class Record(BaseModel):
    """RCRT's record, as far as this service reads it."""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "m110",
                    "schema_name": "user.message.v1",
                    "version": 1,
                    "tags": ["user:message"],
                    "context": {"content": "Where do I set the API key?", "speaker": "Maya"},
                    "session": "s42",
                    "created_at": "2026-11-21T10:00:00Z",
                }
            ]
        },
    )

    id: str = Field(min_length=1, max_length=256, pattern=r"^[^\s\x00-\x1f\x7f]+$", description="id of the breadcrumb")
    schema_name: str | None = Field(None, description="schema; the subject decides, a contradiction is rejected")
    version: int = Field(1, ge=1, le=MAX_VERSION, strict=True, description="+1 with every update; only version 1 triggers")
    title: str | None = Field(None, description="title shown by tools")
    tags: tuple[str, ...] = Field((), max_length=1000, description="routing, pointer and state tags")
    entity_keywords: tuple[str, ...] | None = Field(None, max_length=1000, description="words that search matches, never shown")
    context: dict[str, Any] = Field(description="the body; its schema is the file schemas/<schema_name>.json")
    workspace: str | None = Field(None, description="workspace; the subject decides, a contradiction is rejected")
    session: str | None = Field(None, description="session; the subject decides, a contradiction is rejected")
    created_at: SentTime | None = Field(
        None,
        description="the sender's clock; default is the stream's. Its offset is kept: +02:00 says the local time, Z says none",
    )
    user_id: UserId | None = Field(
        None, description="who the person is; never the display name. Wins over context.user_id of a user.message.v1"
    )
    memory: Annotated[bool, BeforeValidator(lambda value: value is not False)] = Field(
        True,
        description="false keeps it out of the memory of its person, as the tag `private` does: no other session shows it; "
        "on the first breadcrumb of a session, the whole session",
    )
    ttl: Ending | None = Field(None, description="when it ends: a moment, or seconds after created_at")
    expires_at: Ending | None = Field(None, description="the same under its other name; the earlier one counts")
    llm_hints: Tolerant[dict[str, Any]] = Field(
        None, description="how it is shown where a profile trusts its sender; `context.llm_hints` says the same"
    )
    created_by: Tolerant[str] = Field(
        None, description="id of who wrote it, else `context.creator.agent_id`: a claim, which a profile may ask for"
    )
    to: Annotated[tuple[AgentName, ...], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)] = Field(
        (),
        max_length=100,
        description="the agents that it is addressed to, a name or a list: no other agent's consumer is "
        "triggered by it; none = everybody",
    )
    sensitivity: str | None = Field(
        None, description='"secret": nothing of it is stored, embedded, shown or handed out, as with schema secret.v1'
    )

    @field_validator("created_at", "ttl", "expires_at")
    @classmethod
    def _in_utc(cls, moment: float | datetime | None) -> float | datetime | None:
        try:
            return moment.astimezone(UTC) if isinstance(moment, datetime) else moment
        except OverflowError as error:
            raise ValueError("in UTC it lies outside the years 1 to 9999; send the time of the event") from error


class UnknownBody(Body):
    """The body of an unknown schema, or of a secret: nothing of it is read here."""


def decode(arrival: StreamMessage, max_bytes: int = DEFAULT_MAX_BYTES, lifetimes: Lifetimes = NO_LIFETIMES) -> Breadcrumb:
    """Read one message. Raises `Rejected`: not JSON, too large, wrong types, contradicting its subject, too deep.

    lifetimes: of records that name no end. A secret comes without its content (`builder.remember.secrets`).
    """
    address = parse_breadcrumb_subject(arrival.subject)
    if len(arrival.data) > max_bytes:
        raise Rejected(
            f"the breadcrumb has {len(arrival.data):,} bytes, allowed are {max_bytes:,}; "
            "store the large part elsewhere and send a link, or raise CONTEXT_BUILDER_WORKER__MAX_BODY_BYTES"
        )
    try:
        value = clean(_object(parse(arrival.data)))
    except ValueError as error:
        raise Rejected(f"the breadcrumb is not readable JSON: {error}; send one UTF-8 JSON object") from error
    secret = is_secret(address.schema, value)
    record = _validated(Record, without_content(value) if secret else value, address.schema, "", "record")
    model = None if secret else BODIES.get(address.schema)
    body = _validated(model, record.context, address.schema, "/context", address.schema) if model else UnknownBody()
    _check_agreement(address, record)
    breadcrumb = _breadcrumb(arrival, address, record, body, lifetimes)
    if secret:
        return replace(breadcrumb, removes=breadcrumb.id)
    return replace(breadcrumb, utc_offset=sent_offset(value.get("created_at")))


def readable(arrival: StreamMessage) -> Breadcrumb | None:
    """The breadcrumb of a message of any size; None for one that `decode` rejects."""
    try:
        return decode(arrival, len(arrival.data) + 1)
    except Rejected:
        return None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"it is a JSON {type(value).__name__}")  # noqa: TRY004 - one family of reasons
    return value


def _validated(model: type[Model], value: Any, schema: str, pointer: str, file: str) -> Model:
    """pointer: where the value stands in the record. file: the JSON Schema that describes it."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise Rejected(f"{schema}: {_explain(error, pointer)}; see schemas/{file}.json") from error


def _check_agreement(address: Address, record: Record) -> None:
    claims = (
        ("workspace", record.workspace, address.workspace, eq),
        ("session", record.session, address.session, is_session),
        ("session_id", record.context.get("session_id"), address.session, is_session),
        ("schema_name", record.schema_name, address.schema, eq),
    )
    for field, claimed, actual, agrees in claims:
        if claimed is not None and not agrees(claimed, actual):
            raise Rejected(f"{field} is not {actual!r}, which the subject says; publish it on its own subject")


def _breadcrumb(arrival: StreamMessage, address: Address, record: Record, body: Body, lifetimes: Lifetimes) -> Breadcrumb:
    facts, agent = body.facts(), _agent(record.context)
    created_at = record.created_at or arrival.received_at.astimezone(UTC)
    return Breadcrumb(
        workspace=address.workspace,
        session=address.session,
        id=record.id,
        version=record.version,
        place=arrival.place,
        schema=address.schema,
        speaker=_speaker(address, body, facts.speaker),
        role=body.role,
        created_at=created_at,
        received_at=arrival.received_at.astimezone(UTC),
        tags=schema_definition_tags(address.schema, record.tags, record.context),
        body=one_line(record.context),
        text=_text(record, body, facts.text),
        calls=facts.calls,
        removes=facts.removes,
        answers=body.trigger_event_id or "",
        pointers=_pointers(record),
        expires_at=end_of(created_at, (record.ttl, record.expires_at), lifetime(address.schema, record.tags, lifetimes)),
        task=body.task_id or next((tag.removeprefix(TASK_TAG) for tag in record.tags if tag.startswith(TASK_TAG)), ""),
        tool=facts.tool[:MAX_SPEAKER_CHARS],
        failed=facts.failed,
        call_signatures=facts.call_signatures,
        covers=facts.covers,
        user_id=record.user_id or facts.user_id,
        private=not record.memory or PRIVATE_TAG in record.tags,
        hints=hints_of(record.llm_hints, record.context),
        creator=record.created_by or agent,
        agent=agent,
        to=record.to,
    )


def _text(record: Record, body: Body, text: str) -> str:
    """The text of the body with a line for each image and file behind it, and no encoded bytes; all words of an unknown one."""
    if isinstance(body, UnknownBody):
        return text_of(without_hints(record.context))
    return without_data("\n".join(filter(None, (text, *attachment_lines(record.context)))))


def _pointers(record: Record) -> tuple[str, ...]:
    """Bare tags and entity keywords; "workspace:tools" routes, "draft" is a state, and neither says what it is about."""
    bare_tags = (tag for tag in record.tags if ":" not in tag and tag.lower() not in STATES)
    return tuple(dict.fromkeys(word.strip() for word in (*bare_tags, *(record.entity_keywords or ())) if word.strip()))


def _speaker(address: Address, body: Body, name: str | None) -> str:
    """The body's name for it, else context.speaker, the creator's name, the role of the schema; of an unknown one its name."""
    if isinstance(body, UnknownBody):
        return address.schema
    creator = body.creator or {}
    candidates = (body.speaker if name is None else name, creator.get("name"), creator.get("agent_id"))
    usable = (text for text in candidates if isinstance(text, str) and text.strip() and not _is_uuid(text))
    return " ".join(next(usable, "").split())[:MAX_SPEAKER_CHARS] or body.default_speaker


def _agent(context: dict[str, Any]) -> str:
    creator = context.get("creator")
    agent = creator.get("agent_id") if isinstance(creator, dict) else None
    return agent[:MAX_SPEAKER_CHARS] if isinstance(agent, str) else ""


def _is_uuid(name: str) -> bool:
    try:
        uuid.UUID(name)
    except ValueError:
        return False
    return True


def _explain(error: ValidationError, pointer: str) -> str:
    first, *more = error.errors(include_url=False, include_context=False)
    pointer = "/".join((pointer, *(str(step) for step in first["loc"])))
    message = first["msg"].removeprefix("Value error, ")
    others = f" (and {len(more)} more)" if more else ""
    return f"{message} at {pointer}, got {shape(first.get('input'))}{others}"
