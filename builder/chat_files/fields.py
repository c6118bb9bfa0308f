"""The fields of a chat line that say its session and its time, in the spellings of other programs."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from builder.domain.errors import Rejected
from builder.wire.times import read_time

SESSION_FIELDS = ("session", "session_id", "conversation_id")
OTHER_SESSION_FIELDS = ("sessionId", "conversationId", "thread_id", "threadId", "chat_id", "chatId")
TIME_FIELDS = ("created_at", "timestamp", "createdAt")
OTHER_TIME_FIELDS = ("create_time", "createTime", "sent_at", "sentAt")
"""Of other programs: a session that is no plain name and a time that is none say nothing."""


def session_of(fields: Mapping[str, Any]) -> Any:
    """What a value names as its session; "" = nothing."""
    others = (fields.get(name) for name in OTHER_SESSION_FIELDS)
    own = next((fields[name] for name in SESSION_FIELDS if fields.get(name)), "")
    return own or next((each for each in others if each and isinstance(each, str | int)), "")


def time_field(message: Mapping[str, Any]) -> str:
    """The field with its time; "created_at" = it has none."""
    own = next((each for each in TIME_FIELDS if message.get(each) is not None), "")
    return own or next((each for each in OTHER_TIME_FIELDS if _is_time(message.get(each))), "created_at")


def _is_time(value: Any) -> bool:
    with suppress(Rejected):
        return read_time(value) is not None
    return False
