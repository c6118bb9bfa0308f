"""Whole messages in one form, also in shapes that are not quite their vendor's."""

from typing import Any

import pytest

from builder.chat_messages.messages import is_message, message_of
from builder.wire.items import files_beside
from builder.wire.parts import Call, Result, Text
from builder.wire.words import text_of, words_of


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "K-31"},
        {"text": "K-31"},
        {"message": "K-31"},
        {"parts": "K-31"},
        {"parts": {"text": "K-31"}},
        {"parts": [], "content": "K-31"},
        {"content": None, "text": "K-31"},
        {"content": "", "blocks": [{"block_type": "text", "text": "K-31"}]},
        {"content": [], "text": "K-31"},
        {"content": "", "text": "K-31"},
        {"content": [None, {"type": "text", "text": "K-31"}]},
        {"content": [{"type": "text", "text": None}, {"type": "text", "text": "K-31"}]},
        {"content": [{"type": "text", "text": [{"type": "text", "text": "K-31"}]}]},
        {"content": {"content": [{"type": "text", "text": "K-31"}]}},
        {"content": {"content_type": "text", "parts": ["K-31"]}},
        {
            "content": [
                {"type": "text", "text": "K-"},
                {"type": "reference", "reference_ids": [1]},
                {"type": "text", "text": "31"},
            ]
        },
        {"content": "K-31", "tool_calls": None, "function_call": None, "refusal": None, "audio": None, "reasoning": ""},
    ],
)
def test_what_is_said_is_one_text_in_every_shape(fields: dict[str, Any]) -> None:
    parts = list(message_of({"role": "assistant", **fields}).parts)
    assert words_of(parts, is_answer=True) == "K-31"
    assert all(isinstance(part, Text) for part in parts)


RIM = {"name": "measure", "input": {"of": "rim"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"content": [{"tool_use": {"tool_use_id": "c1", **RIM}}]},
        {"tool_calls": {"id": "c1", "function": {"name": "measure", "arguments": '{"of": "rim"}'}}},
        {"toolCalls": [{"id": "c1", "name": "measure", "arguments": {"of": "rim"}}]},
        {"content": [{"type": "tool_use", "id": "c1", "name": "measure", "input": '{"of": "rim"}'}]},
    ],
)
def test_a_call_is_one_in_every_shape(fields: dict[str, Any]) -> None:
    assert list(message_of({"role": "assistant", **fields}).parts) == [Call("measure", {"of": "rim"}, "c1")]


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "user", "content": [{"tool_result": {"tool_use_id": "c1", "content": [{"text": "31 cm"}]}}]},
        {"role": "tool", "toolCallId": "c1", "content": [{"text": "31 cm"}]},
        {"role": "tool", "tool_call_id": "c1", "text": "31 cm", "error": None},
        {"role": "tool", "tool_call_id": "c1", "text": "31 cm", "content": "", "info": {"ms": 3}},
        {"role": "tool", "tool_call_id": "c1", "parts": [{"text": "31 cm"}], "logs": []},
        {"role": "tool", "tool_call_id": "c1", "message": "31 cm", "result": True},
        {"role": "tool", "tool_call_id": "c1", "message": "", "results": "31 cm"},
        {"role": "function", "parts": [{"functionResponse": {"id": "c1", "response": {"result": [{"text": "31 cm"}]}}}]},
        {"text": "", "role": "assistant", "toolResults": [{"toolCallId": "c1", "output": {"type": "text", "value": "31 cm"}}]},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "31 cm"}]},
    ],
)
def test_a_result_is_one_in_every_shape(fields: dict[str, Any]) -> None:
    results = [part for part in message_of(fields).parts if isinstance(part, Result)]
    assert [(part.id, text_of(part.output)) for part in results] == [("c1", "31 cm")]


def test_a_result_without_a_content_is_an_empty_one() -> None:
    message = message_of({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]})
    assert list(message.parts) == [Result(None, "c1")]


def test_files_beside_a_message_are_its_last_parts() -> None:
    message = message_of({"role": "user", "content": "Look", "images": ["https://a.example/b.png"]})
    assert words_of(message.parts, is_answer=False).split("\n") == ["Look", *files_beside(message.files)]


@pytest.mark.parametrize(
    "value", [None, {"content": "x"}, {"type": "quiz_result", "content": "x"}, {"role": "user", "schema_name": "a.v1"}]
)
def test_what_has_neither_role_nor_item_is_no_message(value: Any) -> None:
    assert not is_message(value)
