"""Whatever a vendor's part is, none of its words are lost: they are in the text, or a line names the part."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from builder.remember.decode import decode
from builder.wire.words import text_of
from tests.conversations import message_of
from tests.vendor_kinds import VENDOR_KINDS, Kind

NO_WORDS = frozenset(
    {"type", "id", "call_id", "tool_use_id", "toolCallId", "toolUseId", "data", "bytes", "file_data", "url", "image_url", "state",
     "status", "format", "mimeType", "mime_type", "media_type", "outcome", "block_type", "file_id", "fileUri", "uri"}
)  # fmt: skip
"""Fields of the examples whose values are ids, bytes, addresses or names of states."""


def words_in(value: Any, key: str = "") -> list[str]:
    if isinstance(value, dict):
        return [word for name, item in value.items() for word in words_in(item, name)]
    if isinstance(value, list):
        return [word for item in value for word in words_in(item, key)]
    is_word = isinstance(value, str) and key not in NO_WORDS and value.strip("{}[] ") and not value.startswith("iVBOR")
    return [value] if is_word else []


def texts_of(schema: str, content: list[Any]) -> str:
    field = {"user.message.v1": "content", "agent.response.v1": "message", "tool.response.v1": "output"}[schema]
    body = {"tool": "look", field: content} if field == "output" else {field: content}
    crumb = decode(message_of(1, schema, body))
    return "\n".join((crumb.text, *crumb.call_signatures))


@given(
    st.lists(st.sampled_from(VENDOR_KINDS), min_size=1, max_size=4),
    st.sampled_from(["user.message.v1", "agent.response.v1", "tool.response.v1"]),
)
def test_no_words_of_a_part_are_lost(kinds: list[Kind], schema: str) -> None:
    said = texts_of(schema, [kind.example for kind in kinds])
    for kind in kinds:
        for word in words_in(kind.example):
            assert word in said, (kind.name, word)


PLAIN = st.text("abcdefgh XYZ 0123", min_size=1, max_size=12)
VALUES = st.recursive(
    PLAIN | st.integers(0, 9), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3)
)
FIELDS = st.sampled_from(
    ["type", "data", "format", "source", "file", "mimeType", "text", "name", "content", "image", "url", "title"]
)


@given(st.dictionaries(FIELDS, VALUES, min_size=1, max_size=5))
def test_no_text_of_a_tool_s_own_object_is_lost(value: dict[str, Any]) -> None:
    said = " ".join(text_of(value).replace("(", "[").split())
    for text in (value.get("text"), value.get("content")):
        if isinstance(text, str):
            assert " ".join(text.split()) in said
