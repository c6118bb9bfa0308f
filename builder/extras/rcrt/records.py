"""RCRT's events and records → breadcrumbs; contexts → the records that its runners and its viewer read. Nothing here does I/O."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from builder.domain.breadcrumb import (
    AGENT_CONTEXT,
    AGENT_RESPONSE,
    MOVE,
    NO_SESSION,
    TOMBSTONE,
    TOOL_ERROR,
    TOOL_REQUEST,
    TOOL_RESPONSE,
    USER_MESSAGE,
)
from builder.domain.errors import Rejected
from builder.domain.json_values import clean, parse
from builder.domain.profile import AGENT, CONFIG
from builder.domain.selector import SCHEMA_DEFINITION
from builder.extras.rcrt.hints import converted_rules
from builder.extras.rcrt.ledger import Entry
from builder.remember.decode import HINTS_FIELD
from builder.remember.secrecy import is_secret
from builder.wire.records import Outgoing, outgoing
from builder.wire.subjects import is_token, session_text
from builder.wire.times import moment

BLACKLIST = "context.blacklist.v1"
SESSION_TAG, CONVERSATION_TAG, CONSUMER_TAG, TRIGGER_TAG = "session:", "conversation:", "consumer:", "trigger:"
CHAT_TAG = "extension:chat"
SHARED = frozenset({AGENT, CONFIG, BLACKLIST, SCHEMA_DEFINITION, "tool.catalog.v1"})
"""Schemas whose records hold for all sessions, whatever their tags say."""
TOOLS = frozenset({TOOL_REQUEST, TOOL_RESPONSE, TOOL_ERROR})
"""Their session is that of the call, which the service finds by the request id."""
ALONE = "record:"
"""Beginning of the session of a message that names none: such messages share nothing."""
CONTEXT_LIFETIME = timedelta(hours=1)
ASCII_BYTES = 200
"""RCRT's server cuts a context there when it is updated, and panics inside a character of several bytes."""
_FIRST = ("assembly", "id", "consumer_id", "trigger_event_id", "trigger_seq", "assembled_at", "workspace", "session_id")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_FIELDS = ("title", "tags", "context", "llm_hints", "created_at", "created_by", "ttl", "sensitivity", "entity_keywords")
"""Fields that both sides share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A record that is new, or a new version of one."""

    id: str
    workspace: str = ""
    """"" = the listing does not say."""
    version: int = 0
    """0 = a thin event does not say."""
    schema: str = ""
    own: Mapping[str, Any] | None = None
    """Fields of this version as the event has them; None = it has none."""


def read_change(data: bytes) -> Change:
    """The event of `bc.*.created` or `bc.*.updated`. Raises `Rejected`."""
    try:
        event = clean(parse(data))
        identity, workspace = event["breadcrumb_id"], event["owner_id"]
        version, schema = event.get("version"), event.get("schema_name")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Rejected(f"an event of RCRT with {len(data):,} bytes cannot be read: {error!r:.200}; look at its server") from error
    if not is_token(str(identity)) or not is_token(str(workspace)):
        raise Rejected(f"RCRT names record {identity!r:.80} of owner {workspace!r:.80}, which are no UUIDs; look at its server")
    is_full = isinstance(version, int) and "context" in event
    own = {name: event[name] for name in ("version", "schema_name", "tags", "context") if name in event} if is_full else None
    return Change(
        id=str(identity), workspace=str(workspace), version=version if is_full else 0, schema=str(schema or ""), own=own
    )


def is_secret_record(record: Mapping[str, Any]) -> bool:
    """Whether nothing of the record may be kept."""
    return is_secret(str(record.get("schema_name")), dict(record))


@dataclass(frozen=True, slots=True)
class Translation:
    """A breadcrumb, and the hints of its record that are not followed."""

    event: Outgoing
    failures: tuple[str, ...]


def breadcrumb(record: Mapping[str, Any], *, version: int) -> Translation:
    """A whole record (`/full`) as it is published. version: under which it triggers or replaces. Raises `Rejected`."""
    try:
        return _translated(record, version)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise Rejected(f"its fields have other types than RCRT's records: {error!r:.200}; write it anew") from error


def _translated(record: Mapping[str, Any], version: int) -> Translation:
    schema = str(record.get("schema_name") or "untyped.v1")
    body = record.get("context")
    body = dict(body) if isinstance(body, dict) else {"content": body}
    if isinstance(description := record.get("description"), str) and description:
        body.setdefault("description", description)  # the newest line keeps a tool's there
    fields = {name: record[name] for name in _FIELDS if record.get(name) not in (None, [], {})}
    tags = [tag for tag in record.get("tags") or () if isinstance(tag, str)]
    session = session_of(str(record["id"]), schema, tags, body)
    failures = list[str]()
    for place in (fields, body):
        if isinstance(hints := place.get(HINTS_FIELD), dict):
            converted = converted_rules(hints)
            failures += converted.failures
            place[HINTS_FIELD] = {} if converted.failures else converted.hints
    if body.get("session_id") != session:  # the service refuses a record that contradicts its subject
        body.pop("session_id", None)
    sent = fields | {"id": str(record["id"]), "schema_name": schema, "version": version, "session": session, "tags": tags}
    return Translation(outgoing(sent | {"context": _followed(schema, body)}, str(record["owner_id"])), tuple(failures))


def session_of(identity: str, schema: str, tags: list[str], body: Mapping[str, Any]) -> str:
    """The session's text; NO_SESSION for what all sessions share."""
    if schema in SHARED:
        return NO_SESSION
    tagged = (tag.removeprefix(kind) for kind in (SESSION_TAG, CONVERSATION_TAG) for tag in tags if tag.startswith(kind))
    inner = (body.get(name) for name in ("session_id", "conversation_id"))
    session = next((name for name in (*tagged, *inner) if isinstance(name, str) and name.strip()), "")
    if session:
        return session
    return f"{ALONE}{identity}" if schema in {USER_MESSAGE, AGENT_RESPONSE} else NO_SESSION


def _followed(schema: str, body: dict[str, Any]) -> dict[str, Any]:
    """The body as RCRT's code understands it."""
    if schema == BLACKLIST:  # it hides from search alone, and the conversation needs its tool results
        lines = body.get("excluded_schemas") or ()
        return body | {"excluded_schemas": [line for line in lines if line.get("schema_name") not in TOOLS]}
    if schema == AGENT and not body.get("context_trigger") and _reads_contexts(body):
        return body | {"context_trigger": {"schema_name": USER_MESSAGE, "any_tags": ["user:message"]}}
    return body


def _reads_contexts(agent: Mapping[str, Any]) -> bool:
    """Whether the agent waits for the contexts that the older builder makes of each message."""
    subscriptions = agent.get("subscriptions")
    selectors = subscriptions.get("selectors") if isinstance(subscriptions, dict) else None
    tag = f"{CONSUMER_TAG}{agent.get('agent_id')}"
    return any(
        isinstance(each, dict) and each.get("schema_name") == AGENT_CONTEXT
        and tag in (*(each.get("any_tags") or ()), *(each.get("all_tags") or ()))
        for each in selectors or ()
    )  # fmt: skip


def tombstone(identity: str, entry: Entry) -> Outgoing:
    """The deletion of a record as it is published. entry: of its newest version that is stored."""
    record = {"id": f"deleted-{identity}-{entry.version}", "schema_name": TOMBSTONE, "version": 1, "session": entry.session}
    return outgoing(record | {"context": {"breadcrumb_id": identity}}, entry.workspace)


def move_note(identity: str, entry: Entry, session: str) -> Outgoing:
    """The note that a record stands in another session from now on. entry: of its newest version that is stored."""
    record = {"id": f"moved-{identity}-{entry.version}", "schema_name": MOVE, "version": 1, "session": NO_SESSION}
    return outgoing(record | {"context": {"breadcrumb_id": identity, "session": session}}, entry.workspace)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRecord:
    """A context as RCRT stores it."""

    workspace: str
    consumer: str
    context_id: str
    trigger: str
    sequence: int
    """Sequence of the trigger: the order of contexts."""
    session_tag: str
    """"" = the trigger has no session: no other trigger writes over its record."""
    context: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The `Idempotency-Key` of its creation."""
        return sha256(f"{self.consumer}\0{self.trigger}\0{self.context_id}".encode()).hexdigest()

    def created(self, now: datetime, *, by_extension: bool) -> dict[str, Any]:
        """The body of the request that creates it. by_extension: the trigger came from the browser extension."""
        tags = ["agent:context", f"{CONSUMER_TAG}{self.consumer}", self.session_tag or f"{TRIGGER_TAG}{self.trigger}"]
        return {
            "schema_name": AGENT_CONTEXT,
            "title": f"Context for {self.consumer}",
            "tags": [*tags, *([CHAT_TAG] if by_extension else [])],
            **self.updated(now),
        }

    def updated(self, now: datetime) -> dict[str, Any]:
        """The body of the request that replaces another context."""
        return {"context": self.context, "ttl": moment(now + CONTEXT_LIFETIME)}


def context_record(data: bytes) -> ContextRecord:
    """An `agent.context.v1` of ours → RCRT's record. Raises `Rejected` when its server could not take it."""
    event = json.loads(data)
    first = {name: event[name] for name in _FIRST}
    session = session_text(event["session_id"])
    is_alone = session == NO_SESSION or session.startswith(ALONE)
    context = first | {name: value for name, value in event.items() if name not in first}
    context["formatted_context"] = _HEADING.sub(lambda heading: f"=== {heading[1].upper()} ===", event["content"])
    beginning = json.dumps(context, ensure_ascii=False, separators=(",", ":"))[:ASCII_BYTES]
    if not beginning.isascii():
        raise Rejected(f"context {event['id']} has a character of several bytes in its first {ASCII_BYTES}; rename the consumer")
    return ContextRecord(
        workspace=event["workspace"], consumer=event["consumer_id"], context_id=event["id"], trigger=event["trigger_event_id"],
        sequence=event["trigger_seq"], session_tag="" if is_alone else f"{SESSION_TAG}{session}", context=context,
    )  # fmt: skip
