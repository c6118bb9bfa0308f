"""Messages of any vendor in one form: who speaks, and in their order the words, calls, results, files and thoughts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from builder.domain.errors import Rejected
from builder.domain.json_text import shape
from builder.wire.attachments import MAX_NAME_CHARS, PICTURE_STARTS, attachment_line, attachment_of
from builder.wire.parts import Call, File, Mark, Part, Result, Text, Thought, Unread
from builder.wire.tool_parts import first_of, result_of
from builder.wire.vendor_parts import read_part, vendor_part

Fields = Mapping[str, Any]
SYSTEM = frozenset({"system", "developer"})
CHUNKS = frozenset({"aimessagechunk"})
"""Types of pieces of a stream."""
ROLES: Mapping[str, str] = {
    **dict.fromkeys(("user", "human", "person", "customer", "client", "end_user"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "model", "bot", "chatbot", "agent", "gpt", "llm", "tool-call", *sorted(CHUNKS)), "assistant"
    ),
    **dict.fromkeys(("tool", "function", "toolresult", "tool-response", "observation", "ipython"), "tool"),
    **dict.fromkeys(sorted(SYSTEM), "system"),
}
"""Role of a vendor, in small letters → what it is."""
CONTENTS = ("content", "message", "text", "output_text")
"""Fields that hold what is said; the first one counts."""
_PARTS = ("parts", *CONTENTS, "blocks", "items", "contents", "outputs")
"""The same, and those of programs that list parts; the first one that is not empty counts."""
PLAIN = frozenset(
    {
        *CONTENTS,
        "role",
        "id",
        "created_at",
        "timestamp",
        "createdAt",
        "name",
        "speaker",
        "creator",
        "session_id",
        "trigger_event_id",
    }
)
"""Fields of a message or a body that has nothing but a text."""
_NAMES, _PEOPLE = ("name", "speaker"), ("author", "sender", "username")
"""Fields with the name of who speaks, and with that of a person."""
_NOBODY = frozenset({*ROLES, "me", "you", "self"})
_SPEAKERS = frozenset((*_NAMES, *_PEOPLE))
FILES = ("images", "files", "attachments", "experimental_attachments")
"""Fields with images and files beside a message."""
CALL_IDS = ("tool_call_id", "toolCallId", "tool_use_id", "call_id")
"""Fields of a result with the id of its call."""
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thoughts", "reasoningText", "tool_plan", "reasoning_details")
_CALLS = ("tool_calls", "invalid_tool_calls", "toolInvocations", "toolCalls")
SPOKEN = frozenset((*_PARTS, *_CALLS, "function_call", "refusal", "annotations", "error"))
"""Fields of a message that may be empty, as those of an answer that was broken off."""
_ITEM_ENDS = ("_call", "_output", "_result")
_ITEMS = frozenset(
    ("reasoning", "compaction", "tool_call", "function.call", "function.result", "tool.execution", "mcp_list_tools",
     "mcp_approval_request", "mcp_approval_response", "item_reference")
)  # fmt: skip


class Item(NamedTuple):
    """Something that a message holds."""

    value: Any
    """As its vendor wrote it."""
    parts: tuple[Part, ...]
    """The parts that it is read as."""


@dataclass(frozen=True, slots=True)
class Message:
    """A whole message."""

    role: str
    """`user`, `assistant`, `tool` or `system`."""
    name: str
    """Name of the speaker; "" = it has none."""
    items: tuple[Item, ...]
    files: dict[str, Any]
    """Fields with images and files beside it."""

    @property
    def parts(self) -> Iterator[Part]:
        """All that it holds."""
        yield from parts_of(self.items)
        yield from map(File, files_beside(self.files))

    @property
    def spoken(self) -> tuple[Item, ...]:
        """Its items without marks, where it has any."""
        return self.items if self.is_mark else tuple(item for item in self.items if not _is_mark(item))

    @property
    def is_mark(self) -> bool:
        """Whether it says nothing: a list of tools, a reference to an item."""
        return bool(self.items) and all(map(_is_mark, self.items))

    @property
    def text(self) -> str | None:
        """Its text as it was written, if it is nothing else; None = it is more."""
        text = self.items[0].value if self.items else ""
        return text if isinstance(text, str) and len(self.items) <= 1 else None


def message_of(value: Any) -> Message:
    """The form of a message. Raises `Rejected`."""
    if not isinstance(value, Mapping):
        raise Rejected(f'a message is {shape(value)}; write {{"role": "user", "content": "…"}}')
    fields = without_envelope(value)
    role = role_of(fields)
    try:
        items = _results(fields) if role == "tool" else items_of(fields)
    except ValueError as error:
        raise Rejected(str(error)) from error
    return Message(role, speaker_of(fields), items, {name: fields[name] for name in FILES if fields.get(name)})


def parts_of(items: Iterable[Item]) -> Iterator[Part]:
    """The parts of the items, in their order."""
    return (part for item in items for part in item.parts)


def is_message(value: Any) -> bool:
    """Whether it has a role, or is an item of a vendor that has none: a call, a result, a thought."""
    if not isinstance(value, dict) or "schema_name" in value:
        return False
    if "role" in value:
        return True
    kind = value.get("type")
    is_typed = isinstance(kind, str) and kind.lower() in ROLES and (isinstance(value.get("data"), dict) or "content" in value)
    return is_typed or _is_item(value)


def role_of(message: Fields) -> str:
    """`user`, `assistant`, `tool` or `system`. Raises `Rejected` for an unknown one."""
    own = message.get("role", message.get("type"))
    role = ROLES.get(own.strip().lower()) if isinstance(own, str) else None
    if role is None and _is_item(message):
        read = read_part(dict(message))
        role = "tool" if read and all(isinstance(part, Result) for part in read) else "assistant"
    if role is None:
        what = repr(own[:40]) if isinstance(own, str) else shape(own)
        raise Rejected(f"role {what} is unknown; use one of {', '.join(name for name in ROLES if name not in CHUNKS)}")
    return role


def speaker_of(message: Fields) -> str:
    """The name of who speaks; that of an item is its tool's."""
    if _SPEAKERS.isdisjoint(message) or _is_item(message):
        return ""
    is_person = ROLES.get(str(message.get("role")).lower()) == "user"
    names = (message.get(field) for field in (*_NAMES, *(_PEOPLE if is_person else ())))
    plain = (first_of(name, ("name", "display_name", "displayName")) if isinstance(name, dict) else name for name in names)
    return next((name for name in plain if isinstance(name, str) and name and name.lower() not in _NOBODY), "")


def without_envelope(message: Fields) -> Fields:
    """A message of LangChain out of its `{"type", "data"}`."""
    data = message.get("data")
    return {"type": message.get("type"), **data} if isinstance(data, dict) and "role" not in message else message


def items_of(fields: Fields) -> tuple[Item, ...]:
    """All that somebody says: the content, and what stands in other fields. Raises `Rejected`, ValueError for odd parts."""
    if fields.keys() <= PLAIN and isinstance(text := first_of(fields, CONTENTS), str) and text:
        return (_item(text),)
    if _is_item(fields):
        return (_item(dict(fields)),)
    fields = _with_extra(fields)
    content = [_item(value) for value in _contents(fields)]
    parts = list(parts_of(content))
    front = () if any(isinstance(part, Thought) for part in parts) else map(_item, _thoughts(fields))
    speech = () if any(isinstance(part, Text) and part.text for part in parts) else map(_item, _speech(fields))
    calls = _calls(fields, {part.id for part in parts if isinstance(part, Call)})
    items = (*front, *content, *speech, *calls, *map(_item, _results_beside(fields)))
    return items if len(items) == 1 else tuple(item for item in items if item.value != "")


def _with_extra(fields: Fields) -> Fields:
    """A message of LangChain with what its vendor adds."""
    extra = fields.get("additional_kwargs")
    return {**extra, **{key: value for key, value in fields.items() if value}} if isinstance(extra, dict) else fields


def unread_lines(body: Fields) -> tuple[str, ...]:
    """The lines that name what no reader could read of what a body says."""
    if all(isinstance(value, str) for value in body.values()):
        return ()
    try:
        return tuple(part.line for part in parts_of(items_of(body)) if isinstance(part, Unread))
    except (ValueError, Rejected):  # whoever decodes it says what is wrong
        return ()


def files_beside(message: Fields) -> tuple[str, ...]:
    """A line for each image and file that is sent beside a message."""
    return tuple(
        attachment_line(item if isinstance(item, dict) else _named_file(key, str(item)))
        for key in FILES
        if isinstance(message.get(key), list)
        for item in message[key]
    )


def _named_file(key: str, item: str) -> dict[str, str]:
    may_be_data = len(item) > MAX_NAME_CHARS or item.startswith(tuple(PICTURE_STARTS))
    is_data = may_be_data and attachment_of({"type": "file", "data": item})
    return {"type": key.removesuffix("s"), "data": item} if is_data else {"url": item}


def _item(value: Any) -> Item:
    return Item(value, read_part(value))


def _is_mark(item: Item) -> bool:
    return all(isinstance(part, Mark) for part in item.parts)


def _is_item(fields: Fields) -> bool:
    kind = fields.get("type")
    is_named = "role" not in fields and isinstance(kind, str) and (kind.endswith(_ITEM_ENDS) or kind in _ITEMS)
    return is_named and bool(vendor_part(fields))


def _contents(fields: Fields) -> list[Any]:
    filled = (fields[name] for name in _PARTS if isinstance(fields.get(name), list | str | dict) and fields[name])
    content = next(filled, first_of(fields, CONTENTS))
    return [value for value in (content if isinstance(content, list) else [content]) if value is not None]


def _results(fields: Fields) -> tuple[Item, ...]:
    """The results of a tool's message: those in its content, else one with its output, its words, or its logs and errors."""
    if _is_item(fields):
        return (_item(dict(fields)),)
    part = {**_with_extra(fields), "id": None}
    words = [value for value in (*_contents(part), *_results_beside(part)) if value]
    part["output"] = first_of(part, ("output", "content")) or words or part.get("output")
    result = result_of(part)
    return _results_in(result.output) or (Item(result.output, (result,)),)


def _results_in(content: Any) -> tuple[Item, ...]:
    """Those of a content that holds nothing else."""
    if not isinstance(content, list) or not all(isinstance(value, dict) for value in content):
        return ()
    items = tuple(map(_item, content))
    return items if all(isinstance(part, Result) for part in parts_of(items)) else ()


def _results_beside(fields: Fields) -> list[dict[str, Any]]:
    results = first_of(fields, ("toolResults", "tool_results"))
    listed = results if isinstance(results, list) else ()
    return [{"type": "tool-result", **each} for each in listed if isinstance(each, dict)]


def _thoughts(fields: Fields) -> list[dict[str, Any]]:
    text = next((fields[name] for name in _THOUGHTS if isinstance(fields.get(name), str | list) and fields[name]), "")
    return [{"type": "reasoning", "text": text}] if text else []


def _speech(fields: Fields) -> list[dict[str, Any]]:
    """A refusal, and the words of speech."""
    return [{"type": name, name: fields[name]} for name in ("refusal", "audio") if fields.get(name)]


def _calls(fields: Fields, there: set[str]) -> Iterator[Item]:
    """Calls of other fields. there: ids of those that stand in the content as well."""
    if fields.get("tool_calls") and not isinstance(fields["tool_calls"], list | dict):
        raise Rejected(f"tool_calls is {shape(fields['tool_calls'])}; write a list of calls")
    several = filter(None, map(fields.get, _CALLS))
    listed = [call for calls in several for call in (calls if isinstance(calls, list) else [calls])]
    if not listed and isinstance(fields.get("function_call"), dict):
        listed.append(fields["function_call"])
    for call in listed:
        item = _call_item(call)
        if not {part.id for part in item.parts if isinstance(part, Call)} - {""} & there:
            yield item


def _call_item(call: Any) -> Item:
    if isinstance(call, dict) and "toolCallId" in call and "toolName" in call:
        return _item({"type": "tool-invocation", "toolInvocation": call})
    if isinstance(call, dict):
        value = {**call, "type": "custom" if call.get("type") == "custom" else "function_call"}
        if parts := vendor_part(value):
            return Item(value, parts)
    raise Rejected('a tool call has no name; write {"id": "…", "type": "function", "function": {"name": "…"}}')
