"""Files of other programs that are not read yet, by the fields that their values have."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from builder.domain.json_values import JsonObject

ADVICE = 'write its messages as lines of {"role": "user", "content": "…", "timestamp": "…"}, one conversation a session'
_TRANSCRIPT = ("user", "assistant", "system", "summary", "attachment", "progress", "queue-operation", "file-history-snapshot")
_ROLLOUT = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_LANGCHAIN = ("human", "ai", "system", "tool", "function", "chat", "remove")
"""Types of values; a value that is no text is none of them."""


def known_export(value: Any) -> str:
    """The origin of a value, as "an export of ChatGPT"; "" = unknown."""
    if not isinstance(value, dict) or "schema_name" in value:
        return ""
    return next((name for name, is_of in EXPORTS if is_of(value)), "")


_WHATSAPP = re.compile(r"\u200e?\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}[:.]\d\d[^-\]]{0,9}(?: - |\] )")


def known_text(text: str) -> str:
    """The origin of a line that is no JSON; "" = unknown."""
    return "an export of WhatsApp" if _WHATSAPP.match(text) else ""


def refusal(name: str) -> str:
    """The sentence for a sender. name: of `known_export`."""
    return f"this is {name}, which is not read yet; {ADVICE}"


def _items(value: JsonObject, name: str) -> list[JsonObject]:
    items = value.get(name)
    return [item for item in items[:3] if isinstance(item, dict)] if isinstance(items, list) else []


def _has(name: str, kind: type, value: JsonObject) -> bool:
    return isinstance(value.get(name), kind)


def _is_claude_code(value: JsonObject) -> bool:
    has_name = "messageId" not in value and ("sessionId" in value or "parentUuid" in value or "leafUuid" in value)
    return value.get("type") in _TRANSCRIPT and (has_name or value["type"] == "file-history-snapshot")


def _is_codex(value: JsonObject) -> bool:
    return value.get("type") in _ROLLOUT and ("payload" in value or "timestamp" in value)


def _is_gemini_cli(value: JsonObject) -> bool:
    if {"sessionId", "messageId", "type"} <= value.keys():
        return _has("message", str, value)
    has_kinds = any(item.get("type") in ("user", "gemini") for item in _items(value, "messages"))
    return "sessionId" in value and ("projectHash" in value or has_kinds)


def _is_open_webui(value: JsonObject) -> bool:
    chat = value.get("chat")
    return isinstance(chat, dict) and ("history" in chat or "messages" in chat)


def _is_slack(value: JsonObject) -> bool:
    has_time = _has("ts", str, value)
    return has_time and (value.get("type") == "message" or not {"thread_ts", "client_msg_id", "user"}.isdisjoint(value))


def _is_discord(value: JsonObject) -> bool:
    messages = _items(value, "messages") or [value]
    has_place = "guild" in value or "channel" in value or "channel_id" in value
    return has_place and any(isinstance(item.get("author"), dict) for item in messages)


def _is_langchain(value: JsonObject) -> bool:
    is_message = value.get("type") in _LANGCHAIN and _has("data", dict, value)
    return is_message or ("lc" in value and _has("kwargs", dict, value))


def _is_pydantic_ai(value: JsonObject) -> bool:
    return value.get("kind") in ("request", "response") and _has("parts", list, value)


def _is_sharegpt(value: JsonObject) -> bool:
    turns = _items(value, "conversations") or _items(value, "conversation")
    return any("from" in turn and "value" in turn for turn in turns)


FIELDS = {
    "an export of Telegram": ({"from_id", "text_entities"}, {"from_id", "date_unixtime"}, {"from", "from_id", "text"}),
    "an export of Teams": ({"messageType", "createdDateTime"},),
    "an export of GitHub Copilot": ({"requests", "responderUsername"},),
    "an export of Cursor": ({"composerId", "conversation"}, {"composerId", "fullConversationHeadersOnly"}, {"tabId", "bubbles"}),
    "an export of Google Takeout": ({"header", "title", "products"},),
    "an export of LibreChat": ({"messageId", "isCreatedByUser"},),
    "an export of Matrix": ({"sender", "origin_server_ts"},),
    "a chat of SillyTavern": ({"is_user", "mes"}, {"user_name", "character_name"}),
    "a history of AutoGen": ({"source", "content", "models_usage"},),
    "a list of prompts of Codex": ({"session_id", "ts", "text"},),
}
"""Programs whose values, or whose messages in lists of them, have all of one of these sets of fields."""


def _has_fields(value: Any, sets: tuple[set[str], ...], depth: int = 4) -> bool:
    """depth: levels of objects that are looked at."""
    if not isinstance(value, dict) or not depth:
        return False
    if any(fields <= value.keys() for fields in sets):
        return True
    inner = (each for field in value.values() for each in (field[:3] if isinstance(field, list) else [field]))
    return any(_has_fields(each, sets, depth - 1) for each in inner)


EXPORTS: tuple[tuple[str, Callable[[JsonObject], bool]], ...] = (
    ("an export of ChatGPT", partial(_has, "mapping", dict)),
    ("an export of Claude", partial(_has, "chat_messages", list)),
    ("a transcript of Claude Code", _is_claude_code),
    ("a transcript of Codex", _is_codex),
    ("a transcript of Gemini CLI", _is_gemini_cli),
    ("an export of Open WebUI", _is_open_webui),
    ("an export of Slack", _is_slack),
    ("an export of Discord", _is_discord),
    ("a history of LangChain", _is_langchain),
    ("a history of Pydantic AI", _is_pydantic_ai),
    ("a conversation of ShareGPT", _is_sharegpt),
    *((name, partial(_has_fields, sets=sets)) for name, sets in FIELDS.items()),
)
"""The programs whose exports are known, and the fields by which they are."""
