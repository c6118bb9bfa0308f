"""Contents of a message or a body of any vendor in one form: in their order the words, calls, results, files and thoughts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from builder.domain.errors import Rejected
from builder.domain.json_text import shape
from builder.wire.attachments import MAX_NAME_CHARS, PICTURE_STARTS, attachment_line, attachment_of
from builder.wire.parts import Call, Part, Result, Text, Thought, Unread
from builder.wire.tool_parts import first_of, result_of
from builder.wire.vendor_parts import read_part, vendor_part

Fields = Mapping[str, Any]
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
FILES = ("images", "files", "attachments", "experimental_attachments")
"""Fields with images and files beside a message."""
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


def parts_of(items: Iterable[Item]) -> Iterator[Part]:
    """The parts of the items, in their order."""
    return (part for item in items for part in item.parts)


def items_of(fields: Fields) -> tuple[Item, ...]:
    """All that somebody says: the content, and what stands in other fields. Raises `Rejected`, ValueError for odd parts."""
    if fields.keys() <= PLAIN and isinstance(text := first_of(fields, CONTENTS), str) and text:
        return (_item(text),)
    if is_item(fields):
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


def is_item(fields: Fields) -> bool:
    """Whether it is an item of a vendor that has no role: a call, a result, a thought."""
    kind = fields.get("type")
    is_named = "role" not in fields and isinstance(kind, str) and (kind.endswith(_ITEM_ENDS) or kind in _ITEMS)
    return is_named and bool(vendor_part(fields))


def _contents(fields: Fields) -> list[Any]:
    filled = (fields[name] for name in _PARTS if isinstance(fields.get(name), list | str | dict) and fields[name])
    content = next(filled, first_of(fields, CONTENTS))
    return [value for value in (content if isinstance(content, list) else [content]) if value is not None]


def results_of(fields: Fields) -> tuple[Item, ...]:
    """The results of a tool's message: those in its content, else one with its output, its words, or its logs and errors."""
    if is_item(fields):
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
