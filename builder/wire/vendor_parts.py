"""One reader a shape of the vendors' content parts; a shape is recognised by its own fields, never by a setting.

OpenAI chat and Responses, Anthropic, Gemini, Vercel UI and model messages, Bedrock, Ollama, LangChain, MCP.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from builder.wire.attachments import (
    KINDS,
    NESTED,
    Fields,
    attachment_line,
    attachment_of,
    one_line_name,
    other_fields,
    without_data_urls,
)
from builder.wire.parts import TEXT_READERS, UNREAD, Data, File, Mark, Part, Text, Thought, Unread, value_lines
from builder.wire.tool_parts import (
    NAMED_CALLS,
    Parts,
    client_call,
    code_call,
    code_result,
    first_of,
    function_response,
    image_generation,
    read_arguments,
    remote_call,
    thought,
    tool_result,
    ui_tool,
)

PIECES = ("citations", "annotations", "styles", "marks", "style")
"""Fields of a text that was cut out of a longer one."""
ENCRYPTED = frozenset({"encrypted_content", "encryptedContent", "encrypted_index", "encrypted_stdout"})
"""Fields that only their vendor can read."""
_UNREADABLE = ENCRYPTED.union(
    ("signature", "thoughtSignature", "thought_signature", "cache_control", "providerMetadata", "providerOptions",
     "callProviderMetadata", "logprobs", "_meta")
)  # fmt: skip
"""Fields that are nobody's words, wherever they stand."""
_NO_WORDS = _UNREADABLE | {"type", "block_type", "id", "status", "index", "sourceId", "extras", "caller", "token"}
"""Fields of a part that are words only where it has no others."""
_MARKS = frozenset(
    ("step-start", "step-finish", "cache_point", "cachePoint", "cache-point", "finish-step", "start-step",
     "tool-approval-request", "tool-approval-response", "mcp_list_tools", "mcp_approval_response", "item_reference")
)  # fmt: skip


def read_parts(content: Any) -> Parts:
    """The parts of a content: a text, a part, or a list of them. Raises ValueError for what is neither text nor object."""
    if content is None:
        return ()
    parts: list[Part] = []
    for item in content if isinstance(content, list) else (content,):
        parts += () if item is None else read_part(item)
    return tuple(parts)


def read_part(part: Any) -> Parts:
    """One item of a content; what no reader knows is its words, or `Unread`. Raises ValueError."""
    if isinstance(part, str):
        return (Text(part, is_bare=True),)
    if not isinstance(part, dict):
        raise ValueError(f"a content part is {type(part).__name__}; use text or an object with a text field")  # noqa: TRY004
    read = vendor_part(part)
    return _of_unknown(part) if read is None else read


def _inner(content: Any) -> Parts:
    """The parts of a content within a part; what is neither text nor object is its words."""
    items = content if isinstance(content, list) else [content]
    return read_parts([item if isinstance(item, str | dict) else value_lines(item) for item in items])


def vendor_part(part: Fields) -> Parts | None:
    """The part of a vendor; None = no reader knows its shape."""
    kind = part.get("type", part.get("block_type"))
    if not isinstance(kind, str):
        return _of_keys(part)
    reader = READERS.get(kind) or _by_ending(kind, part)
    read = reader(part) if reader else None
    if read is not None:
        return read
    return _of_file(part) if kind in KINDS else None


def remaining_words(part: Fields) -> str:
    """The words of an object without the fields of its vendor that are none."""
    return value_lines({key: _plain(value) for key, value in part.items() if key not in _NO_WORDS})


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        if (file := attachment_of(value)) is not None and file.is_whole:
            return file.line
        return {key: _plain(item) for key, item in value.items() if key not in _UNREADABLE}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return without_data_urls(value) if isinstance(value, str) else value


def _of_unknown(part: Fields) -> Parts:
    file = attachment_of(part)
    if file is not None and file.is_whole:
        return (File(file.line),)
    words = remaining_words(part) or _words_of_names(part)
    if words:
        return (Data(words),)
    if not part or str(part.get("type")) in KINDS:
        return (File(attachment_line(part)),)
    return (Unread(_line(part)),)


def _words_of_names(part: Fields) -> str:
    """Words of an object that has nothing but an id and a state."""
    names = {key: part[key] for key in ("id", "status") if isinstance(part.get(key), str | int)}
    return value_lines({"type": part.get("type"), **names}) if len(names) > 1 else ""


def _line(part: Fields) -> str:
    kind = part.get("type")
    name = kind if isinstance(kind, str) and kind else "part " + ", ".join(map(str, part))
    size = len(json.dumps(part, ensure_ascii=False, default=str).encode("utf-8", "replace"))
    return f"[{one_line_name(name)}, {size:,} bytes {UNREAD}"


def _text_in(value: Any) -> str | None:
    if isinstance(value, dict):
        value = first_of(value, ("value", "text"))
    return value if isinstance(value, str) else None


def _text(part: Fields) -> Parts | None:
    if isinstance(part.get("text"), list):
        return _inner(part["text"])
    text = "" if "type" in part and "text" in part and part["text"] is None else _text_in(first_of(part, ("text", "refusal")))
    if text is None:
        return None
    if part.get("thought") is True:
        return (Thought(text),)
    is_bare = "type" not in part and "block_type" not in part
    return (Text(text, is_piece=any(part.get(name) for name in PIECES), is_bare=is_bare),)


def _document(part: Fields) -> Parts | None:
    """The words of a document of Anthropic, Bedrock or Cohere."""
    inner = part["document"] if isinstance(part.get("document"), dict) else part
    fields = inner.get("data") if inner is not part else None
    if isinstance(fields, dict) or (fields and attachment_of(part) is None):
        words = value_lines(_plain(read_arguments(fields)))
        return (*_titles(inner), Data(words)) if words else None
    source = inner.get("source")
    content = first_of(source, _SOURCES.get(str(source.get("type")), ("text", "content"))) if isinstance(source, dict) else None
    if not isinstance(content, str | list):
        return None
    return (*_titles(inner), *_inner(content))


def _titles(document: Fields) -> Parts:
    return tuple(Data(str(document[name])) for name in ("title", "name", "context") if document.get(name))


def _nested(part: Fields) -> Parts | None:
    """A content within a content."""
    content = first_of(part, ("parts", "content"))
    is_plain = part.keys() <= {"content", "parts", "content_type", "role"}
    return _inner(content) if is_plain and isinstance(content, str | list | dict) else None


def _search_result(part: Fields) -> Parts | None:
    content = part.get("content", part.get("cited_content"))
    if not isinstance(content, list | dict):
        return None
    head = [str(part[name]) for name in ("title", "source") if isinstance(part.get(name), str)]
    return (*(Data(line) for line in head), *_inner(content))


def _resource(part: Fields) -> Parts | None:
    inner = part.get("resource")
    if isinstance(inner, dict) and isinstance(inner.get("text"), str):
        return (*([Data(str(inner["uri"]))] if inner.get("uri") else []), Text(inner["text"]))
    return None


def _data(part: Fields) -> Parts | None:
    return (Data(words),) if (words := value_lines(_plain(part.get("data")))) else None


def _json(part: Fields) -> Parts | None:
    return (Data(words),) if (words := value_lines(_plain(part["json"]))) else ()


def _cited(answer: Fields) -> Parts | None:
    """An answer of Bedrock with its sources."""
    texts = _inner(answer.get("content"))
    return tuple(replace(each, is_piece=True) if isinstance(each, Text) else each for each in texts) or None


def _mark(part: Fields) -> Parts | None:
    line = f"[{one_line_name(str(part.get('type') or next(iter(part))))}]"
    return (Data(f"{line} {part['reason']}"),) if part.get("reason") else (Mark(line),)


def _approval(part: Fields) -> Parts | None:
    """A call that somebody must allow first."""
    words = value_lines(_plain(read_arguments(part.get("arguments"))))
    return (Data(f"[asks to run {one_line_name(str(part.get('name')))}] {words}".strip()),)


def _by_ending(kind: str, part: Fields) -> "Reader | None":
    if kind.startswith("tool-") and "toolCallId" in part and not {"state", "input", "args"}.isdisjoint(part):
        return ui_tool
    if kind.startswith("data-") and "data" in part:
        return _data
    if kind.endswith(("_call_output", "_tool_result", "_execution_output")) or (kind.endswith("_result") and "call_id" in part):
        return tool_result
    return remote_call if kind.endswith("_call") else None


def _of_keys(part: Fields) -> Parts | None:
    """A part without a type, as Gemini and Bedrock have them: its one key says what it is."""
    name = next((key for key in KEY_READERS if key in part), "")
    inner = part[name] if name in INNER_READERS else part
    read = KEY_READERS[name](inner) if name and isinstance(inner, dict) else None
    return _of_file(part) if read is None and any(isinstance(part.get(key), dict) for key in NESTED) else read


def _of_file(part: Fields) -> Parts | None:
    """An image or file, and the words in its object."""
    file = attachment_of(part)
    if file is None:
        return None
    words = value_lines(_plain(other_fields(part)))
    return (File(file.line), Data(words)) if words else (File(file.line),)


def _speech(part: Fields) -> Parts | None:
    inner = [part[key] for key in NESTED if isinstance(part.get(key), dict)]
    words = next((each["transcript"] for each in (part, *inner) if isinstance(each.get("transcript"), str)), "")
    file = attachment_of(part)
    return (*([File(file.line)] if file and file.data else []), Text(words)) if words else None


_SOURCES = {"text": ("data", "text"), "content": ("content",), "base64": (), "url": (), "file": ()}
"""Type of a document's source → its fields with words."""
Reader = Callable[[Fields], Parts | None]
READERS: dict[str, Reader] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text", "reasoning_text", "text-plain", "refusal"), _text),
    **TEXT_READERS,
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking", "redacted-reasoning", "thought"), thought),
    **dict.fromkeys(
        (*sorted(NAMED_CALLS), "custom", "local_shell_call", "shell_call", "computer_call", "apply_patch_call"), client_call
    ),
    **dict.fromkeys(("server_tool_use", "mcp_tool_use", "server_tool_call", "tool.execution"), remote_call),
    **dict.fromkeys(("tool_result", "tool-result", "tool-error", "server_tool_result", "tool_response"), tool_result),
    "function.result": tool_result,
    **dict.fromkeys(("dynamic-tool", "tool-invocation"), ui_tool),
    **dict.fromkeys(("audio", "input_audio", "output_audio"), _speech),
    "document": _document,
    **dict.fromkeys(("search_result", "citable", "citation"), _search_result),
    "resource": _resource,
    "mcp_approval_request": _approval,
    "image_generation_call": image_generation,
    **dict.fromkeys(sorted(_MARKS), _mark),
}
"""Type → its reader, which gives None where the fields are another's."""

INNER_READERS: dict[str, Reader] = {
    **dict.fromkeys(("functionCall", "function_call", "toolUse", "tool_use"), client_call),
    **dict.fromkeys(("functionResponse", "function_response"), function_response),
    **dict.fromkeys(("executableCode", "executable_code"), code_call),
    **dict.fromkeys(("codeExecutionResult", "code_execution_result"), code_result),
    **dict.fromkeys(("toolResult", "tool_result"), tool_result),
    "reasoningContent": thought,
    "citationsContent": _cited,
    "guardContent": vendor_part,
}
"""Key of a part without a type → the reader of the object below it."""

KEY_READERS: dict[str, Reader] = {
    **INNER_READERS,
    "document": _document,
    **dict.fromkeys(("function", "custom"), client_call),
    "json": _json,
    **dict.fromkeys(("refusal", "text"), _text),
    **dict.fromkeys(("content", "parts"), _nested),
    **dict.fromkeys(("cachePoint", "thoughtSignature", "thought_signature"), _mark),
}
"""Key of a part without a type → its reader, of the part but for INNER_READERS."""
