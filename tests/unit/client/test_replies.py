"""What a model returned, in the shape of any vendor."""

from typing import Any

import pytest

from builder.client.replies import Reply, reply_of
from builder.domain.errors import Rejected

WORDS = Reply("It is hot.", ())


@pytest.mark.parametrize(
    "reply",
    [
        "It is hot.",
        {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is hot."}]}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "It is "}, {"type": "output_text", "text": "hot."}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "It is hot."}]}}]},
        {"role": "model", "parts": [{"text": "It is hot."}]},
        {"output": {"message": {"role": "assistant", "content": [{"text": "It is hot."}]}}},
        {"message": {"role": "assistant", "content": "It is hot."}, "done": True},
        {"role": "assistant", "content": None, "audio": {"id": "a1", "transcript": "It is hot."}},
        {"choices": [{"delta": {"content": "It is hot."}}]},
        {"text": "It is hot."},
        {"type": "ai", "data": {"content": "It is hot."}},
        {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "EqQB"}, {"type": "text", "text": "It is hot."}]},
    ],
)  # fmt: skip
def test_words_are_read_in_every_shape(reply: Any) -> None:
    assert reply_of(reply) == WORDS


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "weigh", "input": {"of": "mug"}}]},
        {"content": None, "tool_calls": [{"id": "c1", "function": {"name": "weigh", "arguments": '{"of": "mug"}'}}]},
        {"content": [{"toolUse": {"toolUseId": "c1", "name": "weigh", "input": {"of": "mug"}}}]},
        {"content": "", "toolCalls": [{"toolCallId": "c1", "toolName": "weigh", "args": {"of": "mug"}}]},
    ],
)  # fmt: skip
def test_a_call_is_read_in_every_shape(message: dict[str, Any]) -> None:
    reply = reply_of({"role": "assistant", **message})
    assert reply == Reply("", ({"tool": "weigh", "input": {"of": "mug"}, "requestId": "c1"},))


def test_a_request_that_an_answer_quotes_is_no_part_of_it() -> None:
    assert reply_of({"model": "m", "message": "Is it raining?", "response": "Yes."}).text == "Yes."


def test_a_call_without_an_id_gets_the_same_one_again_and_another_in_another_round() -> None:
    reply = {"role": "model", "parts": [{"functionCall": {"name": "weigh", "args": {}}}]}
    names = [reply_of(reply, scope).tool_requests[0]["requestId"] for scope in ("one", "one", "two")]
    assert names[0] == names[1] != names[2]


def test_two_calls_under_one_id_are_two_calls() -> None:
    made = [{"id": "c0", "function": {"name": "price", "arguments": {"of": each}}} for each in ("mug", "bowl")]
    first, second = reply_of({"role": "assistant", "content": None, "tool_calls": made}).tool_requests
    assert (first["input"], second["input"]) == ({"of": "mug"}, {"of": "bowl"})
    assert first["requestId"] != second["requestId"]


def test_what_the_vendor_ran_itself_is_nobody_s_call_and_its_result_is_there() -> None:
    reply = reply_of(
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Look first."},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "kiln"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"title": "Kilns"}]},
            {"type": "text", "text": "Found."},
        ]}
    )  # fmt: skip
    server = {"tool": "web_search", "input": {"query": "kiln"}, "output": [{"title": "Kilns"}]}
    assert reply == Reply("Found.", (), "Look first.", (server,))


@pytest.mark.parametrize("reply", [None, 7, {}, {"choices": []}, {"output": []}, {"content": [7]}])
def test_what_says_nothing_is_rejected_with_what_to_give(reply: Any) -> None:
    with pytest.raises(Rejected, match="give a message of OpenAI or Anthropic"):
        reply_of(reply)
