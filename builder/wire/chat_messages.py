"""Role and content of one chat message as schema and body of a breadcrumb."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from builder.domain.breadcrumb import AGENT_RESPONSE, TOOL_RESPONSE, USER_MESSAGE
from builder.domain.errors import Rejected
from builder.domain.text import parse

SYSTEM = frozenset({"system", "developer"})
"""Roles that are passed over: a profile gives the system prompt."""
ROLES = ("user", "assistant", "tool", *sorted(SYSTEM))


def tool_request(call: Any) -> dict[str, Any]:
    """Call of OpenAI ({id, function: {name, arguments}}) or LangChain ({id, name, args}) → {tool, input, requestId}.

    Raises `Rejected` without id or name.
    """
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not function.get("name") or not call.get("id"):
        raise Rejected('a tool call has no id or no name; write {"id": "…", "type": "function", "function": {"name": "…"}}')
    arguments = _arguments(function.get("arguments", function.get("args")))
    return {"tool": str(function["name"]), "input": arguments, "requestId": str(call["id"])}


@dataclass(slots=True)
class Conversation:
    """What is read of one session so far."""

    session: str
    times: Counter[str] = field(default_factory=Counter)
    tools: dict[str, str] = field(default_factory=dict)
    question: str = ""
    """Id of the last message of a person."""


def message_body(role: Any, message: dict[str, Any], conversation: Conversation) -> tuple[str, dict[str, Any]]:
    """Schema and body; the conversation learns the names of the tools. Raises `Rejected`."""
    content = message.get("content")
    speaker = {"speaker": message["name"]} if isinstance(message.get("name"), str) and role != "tool" else {}
    if role == "user" and content is not None:
        return USER_MESSAGE, {"content": content, **speaker}
    if role == "assistant":
        calls = [tool_request(call) for call in message.get("tool_calls") or ()]
        conversation.tools |= {call["requestId"]: call["tool"] for call in calls}
        body = {"message": content if content is not None else message.get("refusal") or "", **speaker}
        answer = {"trigger_event_id": conversation.question} if conversation.question else {}
        return AGENT_RESPONSE, body | answer | ({"tool_requests": calls} if calls else {})
    if role == "tool":
        request = str(message.get("tool_call_id") or "")
        tool = conversation.tools.get(request) or str(message.get("name") or "tool")
        return TOOL_RESPONSE, {"tool": tool, "request_id": request, "status": "success", "output": content}
    if role == "user":
        raise Rejected("a message of the role 'user' has no content; leave it out, or give it one")
    raise Rejected(f"role {str(role)[:40]!r} is unknown; use one of {', '.join(ROLES)}")


def _arguments(value: Any) -> Any:
    if not isinstance(value, str):
        return {} if value is None else value
    try:
        return parse(value) if value.strip() else {}
    except ValueError:
        return value
