"""Bytes → breadcrumb, by the known schemas, which are the source of `schemas/<name>.json`. Unknown fields are ignored."""

import uuid
from dataclasses import replace
from datetime import UTC
from operator import eq
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from builder.domain.breadcrumb import (
    AGENT_RESPONSE,
    MOVE,
    SUMMARY,
    TOMBSTONE,
    TOOL_ERROR,
    TOOL_REQUEST,
    TOOL_RESPONSE,
    USER_MESSAGE,
    Breadcrumb,
    StreamMessage,
)
from builder.domain.errors import Rejected
from builder.domain.json_text import canonical, one_line, shape
from builder.domain.json_values import clean, parse
from builder.domain.selector import DEFINES_TAG, SCHEMA_DEFINITION
from builder.remember.lifetimes import Lifetimes, end_of, lifetime
from builder.remember.record import MAX_SPEAKER_CHARS, Record
from builder.remember.schemas import agents, blacklist, summary, tombstones
from builder.remember.schemas.base import Body, BrowserPageContextV1, BrowserTabContextV1, NoteV1
from builder.remember.schemas.conversation import (
    AgentResponseV1,
    ToolCatalogV1,
    ToolErrorV1,
    ToolRequestV1,
    ToolResponseV1,
    UserMessageV1,
)
from builder.remember.secrecy import is_secret, without_content
from builder.wire.items import files_beside
from builder.wire.responses import agent_of
from builder.wire.subjects import SubjectParts, is_session, parse_breadcrumb_subject
from builder.wire.times import sent_offset
from builder.wire.words import text_of

BODIES: dict[str, type[Body]] = {
    USER_MESSAGE: UserMessageV1,
    AGENT_RESPONSE: AgentResponseV1,
    TOOL_REQUEST: ToolRequestV1,
    TOOL_RESPONSE: ToolResponseV1,
    TOOL_ERROR: ToolErrorV1,
    "tool.catalog.v1": ToolCatalogV1,
    "note.v1": NoteV1,
    "browser.page.context.v1": BrowserPageContextV1,
    "browser.tab.context.v1": BrowserTabContextV1,
    TOMBSTONE: tombstones.BreadcrumbDeletedV1,
    MOVE: tombstones.BreadcrumbMovedV1,
    "agent.def.v1": agents.AgentDefV1,
    "context.config.v1": agents.ContextConfigV1,
    "context.blacklist.v1": blacklist.ContextBlacklistV1,
    SUMMARY: summary.SummaryV1,
}
PRIVATE_TAG = "private"
"""The tag that keeps a breadcrumb, or the session that it opens, out of its person's memory."""
DEFAULT_MAX_BYTES = 1_048_576
NO_LIFETIMES: Lifetimes = MappingProxyType({})

SPEAKING = frozenset({"user", "assistant", "system", "tool"})
"""Roles of what is said in a conversation."""

Model = TypeVar("Model", bound=BaseModel)
HINTS_FIELD = "llm_hints"
SCHEMA_FIELDS = ("schema_name", "defines_schema", "target_schema")
"""Fields of the body of a `schema.def.v1` that name its schema, in RCRT's wordings."""


class UnknownBody(Body):
    """The body of an unknown schema, or of a secret: nothing of it is read here."""


def decode(arrival: StreamMessage, max_bytes: int = DEFAULT_MAX_BYTES, lifetimes: Lifetimes = NO_LIFETIMES) -> Breadcrumb:
    """Read one message. Raises `Rejected`: not JSON, too large, wrong types, contradicting its subject, too deep.

    lifetimes: of records that name no end. A secret comes without its content.
    """
    address = parse_breadcrumb_subject(arrival.subject)
    if len(arrival.data) > max_bytes:
        raise Rejected(
            f"the breadcrumb has {len(arrival.data):,} bytes, allowed are {max_bytes:,}; "
            "store the large part elsewhere and send a link, or raise CONTEXT_BUILDER_WORKER__MAX_BODY_BYTES"
        )
    try:
        value = clean(parse(arrival.data))
        if not isinstance(value, dict):
            raise ValueError(f"it is a JSON {type(value).__name__}")  # noqa: TRY004, TRY301 - one family of reasons
    except ValueError as error:
        raise Rejected(f"the breadcrumb is not readable JSON: {error}; send one UTF-8 JSON object") from error
    secret = is_secret(address.schema, value)
    record = _validated(Record, without_content(address.schema, value) if secret else value, address.schema, "", "record")
    model = None if secret else BODIES.get(address.schema)
    body = _validated(model, record.context, address.schema, "/context", address.schema) if model else UnknownBody()
    _check_agreement(address, record)
    offset = None if secret else sent_offset(value.get("created_at"))
    breadcrumb = _breadcrumb(arrival, address, record, body, lifetimes, offset)
    return replace(breadcrumb, removes=breadcrumb.id) if secret else breadcrumb


def readable(arrival: StreamMessage) -> Breadcrumb | None:
    """The breadcrumb of a message of any size; None for one that `decode` rejects."""
    try:
        return decode(arrival, len(arrival.data) + 1)
    except Rejected:
        return None


def _validated(model: type[Model], value: Any, schema: str, pointer: str, file: str) -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise Rejected(f"{schema}: {_explain(error, pointer)}; see schemas/{file}.json") from error


def _check_agreement(address: SubjectParts, record: Record) -> None:
    claims = (
        ("workspace", record.workspace, address.workspace, eq),
        ("session", record.session, address.session, is_session),
        ("session_id", record.context.get("session_id"), address.session, is_session),
        ("schema_name", record.schema_name, address.schema, eq),
    )
    for field, claimed, actual, agrees in claims:
        if claimed is not None and not agrees(claimed, actual):
            raise Rejected(f"{field} is not {actual!r}, which the subject says; publish it on its own subject")


def _breadcrumb(
    arrival: StreamMessage, address: SubjectParts, record: Record, body: Body, lifetimes: Lifetimes, utc_offset: int | None
) -> Breadcrumb:
    facts, agent = body.facts(), agent_of(record.context)[:MAX_SPEAKER_CHARS]
    received_at = arrival.received_at.astimezone(UTC)
    created_at = min(record.created_at or received_at, received_at)
    return Breadcrumb(
        workspace=address.workspace,
        session=address.session,
        id=record.id,
        version=record.version,
        place=arrival.place,
        schema=address.schema,
        speaker=_speaker(address, body, facts.speaker),
        role=body.speaker_role,
        created_at=created_at,
        utc_offset=utc_offset,
        received_at=received_at,
        tags=schema_definition_tags(address.schema, record.tags, record.context),
        body=one_line(record.context),
        text=_text(record, body, facts.text),
        calls=facts.calls,
        removes=facts.removes,
        answers=body.trigger_event_id or "",
        pointers=record.pointers,
        expires_at=end_of(created_at, (record.ttl, record.expires_at), lifetime(address.schema, record.tags, lifetimes)),
        task=body.task_id or record.task,
        tool=facts.tool[:MAX_SPEAKER_CHARS],
        failed=facts.failed,
        call_signatures=facts.call_signatures,
        covers=facts.covers,
        user_id=record.user_id or facts.user_id,
        private=not record.memory or PRIVATE_TAG in record.tags,
        hints=_hints(record),
        creator=record.created_by or agent,
        agent=agent,
        to=record.to,
        replay=arrival.replay and body.role in SPEAKING,
    )


def _hints(record: Record) -> str:
    hints = record.llm_hints or record.context.get(HINTS_FIELD)
    return canonical(hints) if isinstance(hints, dict) and hints else ""


def _text(record: Record, body: Body, text: str) -> str:
    if isinstance(body, UnknownBody):
        return text_of(without_hints(record.context))
    return "\n".join(filter(None, (text, *files_beside(record.context))))


def _speaker(address: SubjectParts, body: Body, name: str | None) -> str:
    if isinstance(body, UnknownBody):
        return address.schema
    creator = body.creator or {}
    candidates = (body.speaker if name is None else name, creator.get("name"), creator.get("agent_id"))
    usable = (text for text in candidates if isinstance(text, str) and text.strip() and not _is_uuid(text))
    return " ".join(next(usable, "").split())[:MAX_SPEAKER_CHARS] or body.default_speaker


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


def without_hints(context: dict[str, Any]) -> dict[str, Any]:
    """The body without its hints."""
    return {name: value for name, value in context.items() if name != HINTS_FIELD or not isinstance(value, dict)}


def schema_definition_tags(schema: str, sent: tuple[str, ...], context: dict[str, Any]) -> tuple[str, ...]:
    """The tags; a `schema.def.v1` also gets one for the schema that its body names."""
    if schema != SCHEMA_DEFINITION:
        return sent
    names = (context.get(field) for field in SCHEMA_FIELDS)
    tags = (f"{DEFINES_TAG}{name}" for name in names if isinstance(name, str) and name)
    return tuple(dict.fromkeys((*sent, *tags)))
