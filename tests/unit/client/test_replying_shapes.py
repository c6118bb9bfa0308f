"""Replies of models are read in the shapes of their providers."""

from typing import Any

import pytest

from builder.client.replies import Reply
from builder.client.replying import read_reply
from builder.domain.errors import Rejected

FUNCTION = {"name": "weather", "arguments": '{"city": "Oslo"}'}
OPENAI = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": FUNCTION}]}
TEXT = {"type": "text", "text": "Let me look."}
ANTHROPIC: dict[str, Any] = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Hm."},
        TEXT,
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}},
    ],
}


def request(identity: str, arguments: Any = None) -> dict[str, Any]:
    return {"tool": "weather", "input": {"city": "Oslo"} if arguments is None else arguments, "requestId": identity}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Ten degrees.", Reply("Ten degrees.", ())),
        ({"role": "assistant", "content": "Ten degrees."}, Reply("Ten degrees.", ())),
        ({"role": "assistant", "content": None, "refusal": "I must not."}, Reply("I must not.", ())),
        (OPENAI, Reply("", (request("call_1"),))),
        ({"choices": [{"index": 0, "message": OPENAI}]}, Reply("", (request("call_1"),))),
        (ANTHROPIC, Reply("Let me look.", (request("toolu_1"),), "Hm.")),
        ({"content": [TEXT, TEXT]}, Reply("Let me look.\nLet me look.", ())),
        ({"content": ["Let me see. ", TEXT, {"type": "refusal", "refusal": "No."}]}, Reply("Let me see. Let me look.\nNo.", ())),
    ],
    ids=["text", "message", "refusal", "calls", "completion", "anthropic", "two texts", "parts"],
)
def test_a_reply_is_read_in_every_shape(reply: Any, expected: Reply) -> None:
    assert read_reply(reply) == expected


CHOICE = {"index": 0, "finish_reason": "tool_calls", "message": OPENAI}
COMPLETION = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE]}
USAGE = {"input_tokens": 1, "output_tokens": 1}
BLOCKS = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, *ANTHROPIC["content"][1:]]
CLAUDE = {"id": "1", "type": "message", "model": "m", "usage": USAGE, **ANTHROPIC, "content": BLOCKS}


def test_objects_of_openai_are_read_like_their_json() -> None:
    from openai.types.chat import ChatCompletion

    completion = ChatCompletion.model_validate(COMPLETION)
    assert read_reply(completion) == read_reply(completion.choices[0].message) == read_reply(OPENAI)


def test_a_message_of_anthropic_is_read_like_its_json() -> None:
    from anthropic.types import Message

    assert read_reply(Message.model_validate(CLAUDE)) == read_reply(ANTHROPIC)


def test_messages_of_langchain_are_read_like_the_others() -> None:
    from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall, message_to_dict

    call = ToolCall(name="weather", args={"city": "Oslo"}, id="call_1")
    use = ToolCall(name="weather", args={"city": "Oslo"}, id="toolu_1")
    broken = InvalidToolCall(type="invalid_tool_call", name="weather", args="{", id="call_2", error="no JSON")
    assert read_reply(AIMessage("")) == Reply("", ())
    assert read_reply(AIMessage("", tool_calls=[call])) == Reply("", (request("call_1"),))
    assert read_reply(message_to_dict(AIMessage("Hm.", tool_calls=[call]))) == Reply("Hm.", (request("call_1"),))
    assert read_reply(AIMessage("", invalid_tool_calls=[broken])) == Reply("", (request("call_2", "{"),))
    assert read_reply(AIMessage("", additional_kwargs={"refusal": "I must not."})) == Reply("I must not.", ())
    parts: list[Any] = ["Hm.", *BLOCKS[1:]]
    assert read_reply(AIMessage(parts, tool_calls=[use])) == Reply("Hm.\nLet me look.", (request("toolu_1"),))


@pytest.mark.parametrize("reply", [None, 7, {}, {"choices": []}, {"output": []}])
def test_another_shape_is_rejected_with_those_that_are_read(reply: Any) -> None:
    with pytest.raises(Rejected, match="give a message of OpenAI or Anthropic"):
        read_reply(reply)
