"""Messages of any vendor: which values are some, who writes them, and the parts that they have beside their content."""

from collections.abc import Mapping
from typing import Any

from builder.domain.errors import Rejected
from builder.domain.text import shape
from builder.wire.attachments import MAX_NAME_CHARS, attachment_line
from builder.wire.parts import Call, Result, Text
from builder.wire.vendor_parts import read_parts, vendor_part

Fields = Mapping[str, Any]
SYSTEM = frozenset({"system", "developer"})
CHUNKS = frozenset({"aimessagechunk"})
"""Types of pieces of a stream."""
ROLES: Mapping[str, str] = {
    **dict.fromkeys(("user", "human", "person", "customer"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "chatbot", "agent", *sorted(CHUNKS)), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
    **dict.fromkeys(sorted(SYSTEM), "system"),
}
"""Role of a vendor, in small letters → what it is."""
LISTS = ("messages", "contents", "input", "output", "items")
"""Fields with the messages of a request, a conversation or an answer."""
_CONTENTS = ("content", "text", "output_text", "message")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thoughts")
_CALLS = ("tool_calls", "invalid_tool_calls", "toolInvocations", "toolCalls")
FILES = ("images", "files", "attachments", "experimental_attachments")
"""Fields with images and files beside a message."""


def messages_of(value: Any) -> list[Any] | None:
    """The messages of a chat message, a conversation, a request or a list of items; None = the value is none of them."""
    if not isinstance(value, dict) or "schema_name" in value:
        return None
    for name in LISTS:
        items = value.get(name)
        if isinstance(items, list) and (name == "messages" or ("role" not in value and items and all(map(is_message, items)))):
            return items
    return [value] if is_message(value) else None


def answer_of(value: Any) -> Any:
    """The message in a whole answer of a vendor, the first of several; every other value stays."""
    if not isinstance(value, dict) or "role" in value:
        return value
    for name in ("choices", "candidates"):
        if isinstance(value.get(name), list) and value[name] and isinstance(value[name][0], dict):
            inner = value[name][0]
            message = inner.get("message") or inner.get("content") or inner.get("delta")
            return {"role": "assistant", **message} if isinstance(message, dict) else value
    inner = value["output"] if isinstance(value.get("output"), dict) else value
    return inner["message"] if isinstance(inner.get("message"), dict) and "role" in inner["message"] else value


def is_message(value: Any) -> bool:
    """Whether it has a role, or is an item of a vendor that has none: a call, a result, a thought."""
    if not isinstance(value, dict) or "schema_name" in value:
        return False
    if "role" in value:
        return True
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    is_typed = kind.lower() in ROLES and (isinstance(value.get("data"), dict) or "content" in value)
    return is_typed or _is_item(value)


def is_spoken(message: Fields) -> bool:
    """Whether somebody says it: the name of an item without a role is that of a tool."""
    return "role" in message or not _is_item(message)


def role_of(message: Fields) -> str:
    """`user`, `assistant`, `tool` or `system`. Raises `Rejected` for an unknown one."""
    own = message.get("role", message.get("type"))
    role = ROLES.get(own.strip().lower()) if isinstance(own, str) else None
    if role is None and "role" not in message and _is_item(message):
        read = vendor_part(message) or ()
        role = "tool" if read and all(isinstance(part, Result) for part in read) else "assistant"
    if role is None:
        what = repr(own[:40]) if isinstance(own, str) else shape(own)
        raise Rejected(f"role {what} is unknown; use one of {', '.join(name for name in ROLES if name not in CHUNKS)}")
    return role


def without_envelope(message: Fields) -> Fields:
    """A message of LangChain out of its `{"type", "data"}`."""
    data = message.get("data")
    return {"type": message.get("type"), **data} if isinstance(data, dict) and "role" not in message else message


def contents_of(message: Fields) -> list[Any] | str | None:
    """All that it says: its content, and what stands in other fields as parts; None = it has none of them."""
    if "role" not in message and _is_item(message):
        return [dict(message)]
    extra = message.get("additional_kwargs")
    fields: Fields = {**extra, **{key: value for key, value in message.items() if value}} if isinstance(extra, dict) else message
    content = _content(fields)
    front = _thoughts(fields) if not _has_thought(content) else []
    behind = _spoken(fields, content) + _calls(fields, content)
    if not front and not behind:
        return [content] if isinstance(content, dict) else content
    middle = content if isinstance(content, list) else [] if content in (None, "") else [content]
    return [*front, *middle, *behind]


def files_beside(message: Fields) -> tuple[str, ...]:
    """A line for each image and file that is sent beside a message."""
    lines: list[str] = []
    for key in FILES:
        items = message[key] if isinstance(message.get(key), list) else ()
        lines += (attachment_line(item if isinstance(item, dict) else _named_file(key, str(item))) for item in items)
    return tuple(lines)


def _named_file(key: str, item: str) -> dict[str, str]:
    is_address = item.startswith(("http:", "https:", "data:")) or len(item) <= MAX_NAME_CHARS
    return {"url": item} if is_address else {"type": key.removesuffix("s"), "data": item}


def _is_item(value: Fields) -> bool:
    kind = value.get("type")
    ends = ("_call", "_output", "_result")
    is_item = isinstance(kind, str) and (kind.endswith(ends) or kind in {"reasoning", "tool_call"})
    return is_item and bool(vendor_part(value))


def _content(fields: Fields) -> Any:
    parts = fields.get("parts")
    if isinstance(parts, list) and parts:
        return parts
    return next((fields[name] for name in _CONTENTS if isinstance(fields.get(name), str | list | dict)), None)


def _has_thought(content: Any) -> bool:
    kinds = ("thinking", "reasoning", "redacted_thinking")
    return isinstance(content, list) and any(isinstance(part, dict) and part.get("type") in kinds for part in content)


def _thoughts(fields: Fields) -> list[dict[str, Any]]:
    text = next((fields[name] for name in _THOUGHTS if isinstance(fields.get(name), str) and fields[name]), "")
    if text:
        return [{"type": "reasoning", "text": text}]
    details = fields.get("reasoning_details")
    return [{"type": "reasoning", "text": details}] if isinstance(details, list) and details else []


def _spoken(fields: Fields, content: Any) -> list[dict[str, Any]]:
    """A refusal where nothing else is said, and the words of speech."""
    if content and (not isinstance(content, list) or any(isinstance(part, Text) and part.text for part in read_parts(content))):
        return []
    items: list[dict[str, Any]] = []
    if isinstance(fields.get("refusal"), str) and fields["refusal"]:
        items.append({"type": "refusal", "refusal": fields["refusal"]})
    if isinstance(fields.get("audio"), dict):
        items.append({"type": "audio", "audio": fields["audio"]})
    return items


def _calls(fields: Fields, content: Any) -> list[Any]:
    """Calls of other fields but those that stand in the content as well."""
    if fields.get("tool_calls") and not isinstance(fields["tool_calls"], list):
        raise Rejected(f"tool_calls is {shape(fields['tool_calls'])}; write a list of calls")
    listed = [call for name in _CALLS if isinstance(fields.get(name), list) for call in fields[name]]
    if not listed and isinstance(fields.get("function_call"), dict):
        listed.append(fields["function_call"])
    there = {part.id for part in read_parts(content) if isinstance(part, Call)} if isinstance(content, list) else set[str]()
    return [item for call in listed for item in (_call_item(call),) if not _ids(item) & there]


def _call_item(call: Any) -> dict[str, Any]:
    if isinstance(call, dict) and "toolCallId" in call and "toolName" in call:
        return {"type": "tool-invocation", "toolInvocation": call}
    if isinstance(call, dict):
        item = {"type": "function_call", **call, **({"type": "function_call"} if call.get("type") != "custom" else {})}
        if vendor_part(item):
            return item
    raise Rejected('a tool call has no name; write {"id": "…", "type": "function", "function": {"name": "…"}}')


def _ids(item: Fields) -> set[str]:
    return {part.id for part in vendor_part(item) or () if isinstance(part, Call)} - {""}
