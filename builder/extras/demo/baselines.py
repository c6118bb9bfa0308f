"""The texts that an agent sends without a page: all records, or the last messages."""

import json
from collections.abc import Iterable
from typing import Any

LAST_MESSAGES = 20
ALL_JSON, LAST_JSON, LAST_TEXT = (
    "all records as JSON",
    f"last {LAST_MESSAGES} as pretty JSON with the catalog",
    f"last {LAST_MESSAGES} as text",
)


def baselines(lines: Iterable[str]) -> dict[str, str]:
    """The texts of the three baselines for events as JSON lines."""
    records = [json.loads(line) for line in lines]
    bodies = [(record["schema_name"], record["context"]) for record in records]
    return baselines_of(bodies, [json.dumps(record, ensure_ascii=False) for record in records])


def baselines_of(bodies: list[tuple[str, dict[str, Any]]], records: list[str]) -> dict[str, str]:
    """The same. bodies: schema and body of each record."""
    messages = [(schema, body) for schema, body in bodies if schema in {"user.message.v1", "agent.response.v1"}][-LAST_MESSAGES:]
    history = [
        {"role": _role(schema), "content": _text(body), "timestamp": body.get("timestamp", "")} for schema, body in messages
    ]
    context: list[dict[str, Any]] = [
        {"type": "tool_catalog", "content": body} for schema, body in bodies if schema == "tool.catalog.v1"
    ]
    context.append({"type": "chat_history", "messages": history})
    return {
        ALL_JSON: "[" + ",".join(records) + "]",
        LAST_JSON: json.dumps(context, ensure_ascii=False, indent=2),
        LAST_TEXT: "\n".join(f"{_role(schema).capitalize()}: {_text(body)}" for schema, body in messages),
    }


def _role(schema: str) -> str:
    return "user" if schema == "user.message.v1" else "assistant"


def _text(body: dict[str, Any]) -> str:
    return str(body.get("content") or body.get("message") or "")
