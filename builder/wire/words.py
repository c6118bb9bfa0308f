"""The words of what is said: of a content of any vendor, and of JSON of any tool."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from builder.domain.json_values import with_texts
from builder.wire.attachments import Fields, attachment_of, without_bytes, without_data_urls, without_runs
from builder.wire.parts import Call, Data, File, Mark, Part, Result, Text, Thought, Unread, joined, value_lines
from builder.wire.vendor_parts import ENCRYPTED, read_parts, vendor_part

MAX_THOUGHT_CHARS = 2_000
"""A thought in a text is cut to so much; the body has it whole."""
_PART_FIELDS = frozenset(
    ("type", "block_type", "id", "text", "annotations", "citations", "cache_control", "_meta", "state", "status", "logprobs",
     "signature", "title", "source", "content", "context", "thinking", "summary", "encrypted_content", "encryptedContent",
     "refusal", "resource", "uri", "url", "name", "mimeType", "mediaType", "description", "size", "page_age", "pageAge",
     "providerMetadata", "providerOptions", "index", "data", "value", "call_id", "tool_use_id", "arguments", "input", "output",
     "is_error", "filename", "sourceId", "thought", "thoughtSignature", "encrypted_index", "json", "caller", "results", "action",
     "code", "outputs", "toolResult", "toolUse", "document", "cited_content", "additional_location_info")
)  # fmt: skip
"""Fields of vendors' parts: an object with another one is a tool's own."""
_TEXT_FIELDS = frozenset(
    ("type", "block_type", "text", "annotations", "citations", "cache_control", "_meta", "logprobs", "index", "providerMetadata",
     "providerOptions", "thoughtSignature")
)  # fmt: skip
"""The same of a text: a source, a state or an id beside it is a tool's own."""
_KEYS = frozenset({"json", "image", "document", "video", "inlineData", "fileData"})
"""Keys of Bedrock's and Gemini's parts of a result, beside `text`."""
_OBJECTS = frozenset({"reasoning", "function", "custom", "thought"})
"""Types that objects of tools have as well."""


def content_words(content: Any, *, is_answer: bool) -> str:
    """The words of a content as one text. is_answer: a model wrote it. Raises ValueError for what is neither text nor object."""
    return words_of(read_parts(content), is_answer=is_answer)


def words_of(parts: Iterable[Part], *, is_answer: bool) -> str:
    """Consecutive texts are joined as their vendor cut them; everything else has lines of its own."""
    every = tuple(parts)
    has_words = any(not isinstance(part, Mark) for part in every)
    blocks: list[str] = []
    for is_text, run in groupby(every, key=lambda part: isinstance(part, Text)):
        if is_text:
            blocks.append(joined([part for part in run if isinstance(part, Text)], is_answer=is_answer))
        else:
            blocks += (_block(part) for part in run if not (has_words and isinstance(part, Mark)))
    return "\n".join(filter(None, blocks))


def described(value: Any) -> Any:
    """JSON of a tool with a line per image and file, and with the words of vendors' parts in their place."""
    is_bare = isinstance(value, list) and value and all(isinstance(item, dict) and _is_bare(item) for item in value)
    return words_of(read_parts(value), is_answer=False) if is_bare else _described(value)


def _is_bare(item: Fields) -> bool:
    """Whether it is a part of a result as Gemini and Bedrock have them, without a type."""
    return len(item) == 1 and (isinstance(item.get("text"), str) or not item.keys().isdisjoint(_KEYS))


def _described(value: Any) -> Any:
    if isinstance(value, str):
        return without_data_urls(value)
    if isinstance(value, list):
        parts = _parts_of(value) if value else None
        return [_described(item) for item in value] if parts is None else words_of(parts, is_answer=False)
    if not isinstance(value, dict):
        return value
    parts = _parts_of([value])
    if parts is not None:
        return words_of(parts, is_answer=False)
    return {key: _described(item) for key, item in _without_bytes(value).items() if key not in ENCRYPTED}


def _without_bytes(value: Fields) -> Fields:
    file = attachment_of(value)
    return value if file is None else without_bytes(value, file.line)


def with_lines(value: Any) -> Any:
    """JSON with a line in place of the bytes of each image and file, all else as it is."""
    if isinstance(value, str):
        return without_data_urls(value)
    if isinstance(value, list):
        return [with_lines(item) for item in value]
    return {key: with_lines(item) for key, item in _without_bytes(value).items()} if isinstance(value, dict) else value


def brief(value: Any) -> Any:
    """The same of a result, with a mark in place of each long encoded run."""
    return with_texts(described(value), without_runs)


def text_of(value: Any) -> str:
    """All words of a JSON value as lines, keys before plain values, a line for each image and file."""
    return value_lines(described(value))


def _parts_of(items: Sequence[Any]) -> tuple[Part, ...] | None:
    """None = one of them is an object of the tool's own."""
    parts: list[Part] = []
    for item in items:
        read = _vendor_part(item) if isinstance(item, dict) else None
        if read is None:
            return None
        parts += read
    return tuple(parts)


def _vendor_part(item: Fields) -> tuple[Part, ...] | None:
    file = attachment_of(item)
    if file is not None and file.is_whole:
        return (File(file.line),)
    kind = item.get("type", item.get("block_type"))
    own = _TEXT_FIELDS if kind == "text" else _PART_FIELDS
    if not isinstance(kind, str) or kind in _OBJECTS or not item.keys() <= own:
        return None
    read = vendor_part(item)
    return None if read and any(isinstance(part, Call) for part in read) else read


def _block(part: Part) -> str:
    match part:
        case Call():
            return f"[call {part.tool}] {text_of(part.arguments)}".strip()
        case Result():
            head = " ".join(filter(None, ("failed" if part.failed else "", f"result of {part.tool}" if part.tool else "result")))
            return f"[{head}] {text_of(part.output)}".strip()
        case Thought():
            return f"[thought] {_shortened(part.text)}"
        case Text() | Data():
            return part.text
        case File() | Mark() | Unread():
            return part.line


def _shortened(thought: str) -> str:
    rest = len(thought) - MAX_THOUGHT_CHARS
    return thought if rest <= 0 else f"{thought[:MAX_THOUGHT_CHARS]}… [{rest:,} more characters of this thought are in its body]"
