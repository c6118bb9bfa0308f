"""Chat messages of other systems as records: `{"role", "content"}` per line, or `{"messages": [...]}`.

Equal conversations give equal ids.
"""

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from builder.domain.breadcrumb import USER_MESSAGE
from builder.domain.errors import Rejected
from builder.domain.text import canonical, one_line, parse
from builder.wire.chat_messages import Conversation, message_bodies
from builder.wire.messages import LISTS, messages_of

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "context-builder/chat")
SESSION_FIELDS = ("session", "session_id", "conversation_id")
"""Where a line with `messages` may name its session."""
SCHEMA_CHARS = 200
"""Of a line: a record names its schema there, and need not be parsed twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLines:
    """Lines of records."""

    lines: tuple[str, ...]
    """For `read_lines`; lines without chat messages are unchanged."""
    system_messages: int = 0
    """Messages that were passed over because a profile gives the system prompt."""


def chat_lines(lines: Iterable[str], session: str) -> ChatLines:
    """Chat messages become records; other lines stay. Raises `Rejected` with the line number.

    A file may be one JSON value. session: of lines that name none; further `messages` are `SESSION-2`, `SESSION-3`, ….
    """
    conversations: dict[str, Conversation] = {}
    records: list[str] = []
    system = unnamed = 0
    for number, line in enumerate(_values(tuple(lines)), 1):
        value = _chat(line)
        if value is None:
            records.append(line)
            continue
        own = next((str(value[name]) for name in SESSION_FIELDS if value.get(name)), "")
        messages = messages_of(value) or []
        unnamed += any(messages is value.get(name) for name in LISTS) and not own
        place = own or (f"{session}-{unnamed}" if unnamed > 1 else session)
        conversation = conversations.setdefault(place, Conversation(place))
        for message in messages:
            try:
                read = _records(message, conversation)
            except Rejected as error:
                raise Rejected(f"line {number}: {error}") from error
            system += not read
            records += map(one_line, read) if read else [""]
    return ChatLines(lines=tuple(records), system_messages=system)


def _values(lines: tuple[str, ...]) -> Iterable[str]:
    first = next((line for line in lines if line.strip()), "")
    is_lines, value = _parsed(first)
    if not is_lines:
        is_whole, value = _parsed("\n".join(lines))
        if not is_whole:
            return lines
    if isinstance(value, list):
        return [json.dumps(item) for item in value]
    return lines if is_lines else [json.dumps(value)]


def _parsed(text: str) -> tuple[bool, Any]:
    try:
        return True, parse(text)
    except ValueError:
        return False, None


def _chat(line: str) -> dict[str, Any] | None:
    if '"schema_name"' in line[:SCHEMA_CHARS]:
        return None
    _, value = _parsed(line)
    return None if messages_of(value) is None else value


def _records(message: Any, conversation: Conversation) -> list[dict[str, Any]]:
    """The records of one message, in its order; [] for a system prompt."""
    bodies = message_bodies(message, conversation)
    identity, moment = (_identity(message, conversation), _moment(message)) if bodies else ("", "")
    frame = {"session": conversation.session, **({"created_at": moment} if moment else {})}
    records = []
    for number, (schema, body) in enumerate(bodies):
        own = identity if not number else str(uuid.uuid5(NAMESPACE, f"{conversation.session}\0{identity}\0{number}"))
        if schema == USER_MESSAGE:
            conversation.question = own
        records.append({"id": own, "schema_name": schema, "context": body, **frame})
    return records


def _identity(message: dict[str, Any], conversation: Conversation) -> str:
    if isinstance(message.get("id"), str) and message["id"]:
        return str(message["id"])
    text = canonical(message)
    conversation.times[text] += 1
    return str(uuid.uuid5(NAMESPACE, f"{conversation.session}\0{conversation.times[text]}\0{text}"))


def _moment(message: dict[str, Any]) -> str:
    value = next((message[name] for name in ("created_at", "timestamp") if message.get(name) is not None), "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC).isoformat()
    return str(value)
