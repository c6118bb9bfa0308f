"""Ids of a chat's messages as those of breadcrumbs: what a chat calls a message is a name within its conversation only."""

import uuid
from collections.abc import Mapping
from hashlib import sha1
from typing import Any

from builder.domain.json_values import JsonObject, clean
from builder.wire.subjects import session_token
from builder.wire.tool_parts import first_of

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "context-builder/chat")
MAX_ID_CHARS = 256
_REPLIES = {
    "reply_to": ("reply_to", "in_reply_to", "replyTo", "inReplyTo", "reply_to_message_id", "reply_to_id", "reply_to_message"),
    "quoted": ("quoted", "quoted_message", "quotedMessage"),
}
"""Field of a body → fields of messages."""


def derived_id(text: str) -> str:
    """A UUID of version 5."""
    digits = sha1(NAMESPACE.bytes + text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def scoped_id(session: str, identity: str) -> str:
    """The id of a breadcrumb for an id that is one of its conversation only."""
    text = f"{session_token(session)}:{clean(identity)}"
    is_usable = len(text) <= MAX_ID_CHARS and text.isprintable() and not any(sign.isspace() for sign in text)
    return text if is_usable else derived_id(f"{session}\0{identity}")


def reply_fields(session: str, message: Mapping[str, Any]) -> JsonObject:
    """Reply and quotation of a message: ids, alone or in an object, as those of breadcrumbs; words as they are."""
    fields: JsonObject = {}
    for name, spellings in _REPLIES.items():
        value = first_of(message, spellings)
        inner = value.get("id", value.get("message_id")) if isinstance(value, dict) else None
        target = value if inner is None and name != "quoted" else inner
        if isinstance(target, str | int) and target:
            fields[name] = scoped_id(session, str(target))
        elif value:
            fields[name] = value
    return fields


def question_field(session: str, message: Mapping[str, Any]) -> dict[str, str]:
    """What a message names as its question, by the id of its breadcrumb; {} = nothing."""
    target = message.get("trigger_event_id")
    return {"trigger_event_id": scoped_id(session, str(target))} if isinstance(target, str | int) and target else {}
