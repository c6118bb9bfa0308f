"""Whole requests, conversations and answers of any vendor."""

from typing import Any

import pytest

from builder.chat_messages.bodies import Conversation, message_bodies
from builder.chat_messages.payloads import payload_of

MESSAGE = {"role": "assistant", "content": "It is hot."}
ITEM = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is hot."}]}
ANSWERS: dict[str, dict[str, Any]] = {
    "openai": {"object": "chat.completion", "choices": [{"index": 0, "message": MESSAGE}]},
    "completions": {"model": "m", "choices": [{"text": "It is hot."}]},
    "responses": {"object": "response", "output": [{"type": "reasoning", "summary": []}, ITEM]},
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": "It is hot."}]}}]},
    "bedrock": {"output": {"message": {"role": "assistant", "content": [{"text": "It is hot."}]}}, "stopReason": "end_turn"},
    "ollama": {"model": "m", "message": MESSAGE, "done": True},
    "ollama generate": {"model": "m", "response": "It is hot.", "done": True},
    "vercel": {"text": "It is hot.", "finishReason": "stop", "steps": []},
    "vercel with its messages": {"text": "It is hot.", "finishReason": "stop", "response": {"messages": [MESSAGE]}},
    "a batch of anthropic": {"custom_id": "a", "result": {"type": "succeeded", "message": MESSAGE}},
    "a batch of openai": {"custom_id": "a", "response": {"status_code": 200, "body": {"choices": [{"message": MESSAGE}]}}},
}


@pytest.mark.parametrize("vendor", ANSWERS)
def test_the_message_of_a_whole_answer_is_read(vendor: str) -> None:
    payload = payload_of(ANSWERS[vendor])
    assert payload is not None
    bodies = [body for each in (*payload.request, *payload.answer) for body in message_bodies(each, Conversation("s1"))]
    assert "It is hot." in str(bodies[-1])
    assert bodies[-1][0] == "agent.response.v1"


@pytest.mark.parametrize(
    "request_body",
    [
        {"model": "m", "input": "Is it hot?"},
        {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": "Is it hot?"}]}]},
        {"model": "m", "prompt": "Is it hot?"},
        {"contents": [{"role": "user", "parts": [{"text": "Is it hot?"}]}]},
        {"custom_id": "a", "params": {"messages": [{"role": "user", "content": "Is it hot?"}]}},
        {"object": "list", "data": [{"role": "user", "content": [{"type": "text", "text": {"value": "Is it hot?"}}]}]},
    ],
)
def test_what_a_model_is_given_is_read_and_its_answer_beside_it_comes_last(request_body: dict[str, Any]) -> None:
    payload = payload_of({**request_body, "output": [ITEM]})
    assert payload is not None
    assert ("Is it hot?" in str(payload.request), payload.answer) == (True, [ITEM])


@pytest.mark.parametrize("value", [None, [], {}, {"choices": []}, {"output": []}, {"input": "x"}, {"output": "x"}, {"data": [1]}])
def test_what_holds_no_message_is_none(value: Any) -> None:
    assert payload_of(value) is None


def test_an_item_that_nobody_knows_is_part_of_the_answer() -> None:
    payload = payload_of({"output": [{"type": "hologram", "id": "h1"}, ITEM]})
    assert payload is not None
    assert payload.answer == [{"role": "assistant", "content": [{"type": "hologram", "id": "h1"}]}, ITEM]


def test_a_whole_within_itself_ends() -> None:
    value: dict[str, Any] = {}
    value["body"] = value
    assert payload_of(value) is None
