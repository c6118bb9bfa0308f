"""Role and content of one chat message as schema and body of a breadcrumb."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from builder.domain.breadcrumb import AGENT_RESPONSE, TOOL_RESPONSE, USER_MESSAGE
from builder.domain.errors import Rejected
from builder.domain.text import parse, shape

SYSTEM = "system"
"""The role whose first messages are passed over: a profile gives the system prompt."""
ROLES = {
    **dict.fromkeys(("user", "human", "person", "customer"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "agent", "chatbot"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
    **dict.fromkeys(("system", "developer"), SYSTEM),
}
"""Role of a vendor, in small letters → what it is."""
SPEAKER_OF_SYSTEM = "System"


def messages_of(value: Any) -> list[Any] | None:
    """The messages of a chat message or of a conversation; None = the value is neither."""
    if not isinstance(value, dict) or "schema_name" in value:
        return None
    if isinstance(value.get("messages"), list):
        return list(value["messages"])
    return [value] if "role" in value else None


def role_of(message: Mapping[str, Any]) -> str:
    """`user`, `assistant`, `tool` or `system`. Raises `Rejected` for other roles."""
    own = message.get("role")
    role = ROLES.get(own.strip().lower()) if isinstance(own, str) else None
    if role is None:
        what = repr(own[:40]) if isinstance(own, str) else shape(own)
        raise Rejected(f"role {what} is unknown; use one of {', '.join(ROLES)}")
    return role


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
    tools: dict[str, str] = field(default_factory=dict)
    question: str = ""
    """Id of the last message of a person."""
    has_words: bool = False
    """Somebody has said something: a system message is one of the conversation from here on."""


def message_bodies(message: Any, conversation: Conversation) -> list[tuple[str, dict[str, Any]]]:
    """Schema and body of all that one message says; [] for a system prompt. Raises `Rejected`."""
    if not isinstance(message, dict):
        raise Rejected(f'a message is {shape(message)}; write {{"role": "user", "content": "…"}}')
    role, content = role_of(message), message.get("content")
    if role == SYSTEM:
        return (
            [(AGENT_RESPONSE, {"message": content, "speaker": SPEAKER_OF_SYSTEM})] if conversation.has_words and content else []
        )
    conversation.has_words = True
    return [_body(role, message, conversation)]


def _body(role: str, message: dict[str, Any], conversation: Conversation) -> tuple[str, dict[str, Any]]:
    content = message.get("content")
    speaker = {"speaker": message["name"]} if isinstance(message.get("name"), str) and role != "tool" else {}
    if role == "user" and content is None:
        raise Rejected("a message of the role 'user' has no content; leave it out, or give it one")
    if role == "user":
        return USER_MESSAGE, {"content": content, **speaker}
    if role == "assistant":
        body = {"message": content if content is not None else message.get("refusal") or "", **speaker}
        answer = {"trigger_event_id": conversation.question} if conversation.question else {}
        calls = _calls(message, conversation)
        return AGENT_RESPONSE, body | answer | ({"tool_requests": calls} if calls else {})
    request = str(message.get("tool_call_id") or "")
    tool = conversation.tools.get(request) or str(message.get("name") or "tool")
    return TOOL_RESPONSE, {"tool": tool, "request_id": request, "status": "success", "output": content}


def _calls(message: dict[str, Any], conversation: Conversation) -> list[dict[str, Any]]:
    sent = message.get("tool_calls") or []
    if not isinstance(sent, list):
        raise Rejected(f"tool_calls is {shape(sent)}; write a list of calls")
    calls = [tool_request(call) for call in sent]
    conversation.tools |= {call["requestId"]: call["tool"] for call in calls}
    return calls


def _arguments(value: Any) -> Any:
    if not isinstance(value, str):
        return {} if value is None else value
    try:
        return parse(value) if value.strip() else {}
    except ValueError:
        return value
