"""Replies of models in the shapes of their providers."""

from typing import Any

import anthropic
import pytest
from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall, message_to_dict
from openai.types.chat import ChatCompletion

from builder.client.tools import Reply, read_reply
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
        (ANTHROPIC, Reply("Let me look.", (request("toolu_1"),))),
        ({"content": [TEXT, TEXT]}, Reply("Let me look.\nLet me look.", ())),
        ({"content": ["Let me", TEXT, {"type": "refusal", "refusal": "No."}]}, Reply("Let me\nLet me look.\nNo.", ())),
    ],
    ids=["text", "message", "refusal", "calls", "completion", "anthropic", "two texts", "parts"],
)
def test_a_reply_is_read_in_every_shape(reply: Any, expected: Reply) -> None:
    assert read_reply(reply) == expected


CHOICE = {"index": 0, "finish_reason": "tool_calls", "message": OPENAI}
COMPLETION = ChatCompletion.model_validate(
    {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE]}
)
USAGE = {"input_tokens": 1, "output_tokens": 1}
BLOCKS = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, *ANTHROPIC["content"][1:]]
CLAUDE = anthropic.types.Message.model_validate(
    {"id": "1", "type": "message", "model": "m", "usage": USAGE, **ANTHROPIC, "content": BLOCKS}
)
CALL = ToolCall(name="weather", args={"city": "Oslo"}, id="call_1")
USE = ToolCall(name="weather", args={"city": "Oslo"}, id="toolu_1")
BROKEN = InvalidToolCall(type="invalid_tool_call", name="weather", args="{", id="call_2", error="no JSON")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (COMPLETION, read_reply(OPENAI)),
        (COMPLETION.choices[0].message, read_reply(OPENAI)),
        (CLAUDE, read_reply(ANTHROPIC)),
        (AIMessage(""), Reply("", ())),
        (AIMessage("", tool_calls=[CALL]), Reply("", (request("call_1"),))),
        (message_to_dict(AIMessage("Hm.", tool_calls=[CALL])), Reply("Hm.", (request("call_1"),))),
        (AIMessage("", invalid_tool_calls=[BROKEN]), Reply("", (request("call_2", "{"),))),
        (AIMessage("", additional_kwargs={"refusal": "I must not."}), Reply("I must not.", ())),
        (AIMessage(["Hm.", *BLOCKS[1:]], tool_calls=[USE]), Reply("Hm.\nLet me look.", (request("toolu_1"),))),
    ],
    ids=["openai", "choice", "anthropic", "empty", "langchain", "stored", "broken", "refusal", "blocks"],
)  # fmt: skip
def test_an_object_of_a_real_package_is_read_like_its_json(reply: Any, expected: Reply) -> None:
    assert read_reply(reply) == expected


@pytest.mark.parametrize(("arguments", "value"), [("", {}), ("{", "{"), ("[1]", [1])])
def test_arguments_that_are_no_object_are_kept_for_the_error(arguments: str, value: Any) -> None:
    call = {"id": "call_1", "function": {"name": "weather", "arguments": arguments}}
    assert read_reply({"content": "", "tool_calls": [call]}).tool_requests == (request("call_1", value),)


@pytest.mark.parametrize("reply", [None, 7, {}, {"choices": []}, {"output": []}, {"content": [{"type": "text"}]}])
def test_another_shape_is_rejected_with_those_that_are_read(reply: Any) -> None:
    with pytest.raises(Rejected, match="give a message of OpenAI or Anthropic"):
        read_reply(reply)
