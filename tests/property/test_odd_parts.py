"""Whatever stands in the fields of a part or a message, it is read or refused: no reader breaks."""

from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from builder.adapters.templates.pictures import images_of
from builder.chat_messages.bodies import Conversation, message_bodies
from builder.chat_messages.payloads import Payload, payload_of
from builder.client.replies import reply_of
from builder.domain.errors import Rejected
from builder.remember.decode import decode
from builder.wire.words import brief
from tests.conversations import message_of
from tests.vendor_kinds import VENDOR_KINDS

KEYS = sorted(
    {key for kind in VENDOR_KINDS for key in kind.example} | {"role", "parts", "tool_calls", "data", "source", "output"}
)
TYPES = st.sampled_from([kind.example.get("type", "text") for kind in VENDOR_KINDS])
PLAIN = st.none() | st.booleans() | st.integers(-2, 2) | st.text("aA1 .={", max_size=8) | TYPES
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4), max_leaves=12
)
PARTS = st.builds(
    lambda kind, odd: kind.example | odd, st.sampled_from(VENDOR_KINDS), st.dictionaries(st.sampled_from(KEYS), VALUES)
)
MESSAGES = st.builds(
    lambda role, odd, parts: {"role": role, "content": parts} | odd,
    st.sampled_from(["user", "assistant", "tool", "system", "model"]),
    st.dictionaries(st.sampled_from([*KEYS, "reasoning_content", "images", "function_call"]), VALUES, max_size=3),
    st.lists(PARTS | VALUES, max_size=3),
)


@given(st.lists(MESSAGES | PARTS | VALUES, max_size=3))
@example([{"role": "assistant", "parts": [{"type": "tool-price", "toolCallId": "c1", "state": [], "input": {}}]}])
def test_odd_messages_are_read_or_refused(messages: list[Any]) -> None:
    conversation = Conversation("s1")
    for message in messages:
        with suppress(Rejected):
            reply_of(message)
        payload = payload_of(message) or Payload([], [message])
        for each in (*payload.request, *payload.answer):
            with suppress(Rejected):
                for schema, body in message_bodies(each, conversation):
                    decode(message_of(1, schema, body))


@given(PARTS | VALUES)
@example([{"type": "text", "text": [5]}])
@example([{"document": {"name": "log", "source": {"content": [5]}}}])
def test_odd_results_are_read(value: Any) -> None:
    brief(value)
    crumb = decode(message_of(1, "tool.response.v1", {"tool": "look", "output": value}))
    images_of(crumb.body)
