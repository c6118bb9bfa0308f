"""Neutral messages as input items of OpenAI's Responses API."""

import json
from typing import Any

import pytest
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from builder.assemble.items.rendering import Image
from builder.chat_messages.bodies import Conversation, message_bodies
from builder.extras.chat_formats.messages import Message, MessagePart
from builder.extras.chat_formats.response_items import response_items
from builder.extras.chat_formats.shapes import MAX_ID_CHARS
from tests.chat_rules import broken_by_responses
from tests.extras.chat_formats.test_shapes import ASK, PICTURE, PNG, call, message


def items(*messages: Message) -> list[dict[str, Any]]:
    """As JSON, once the API and the types of its SDK would take them."""
    found = [json.loads(each.model_dump_json(exclude_none=True)) for each in response_items(messages)["messages"]]
    assert broken_by_responses(found) == []
    TypeAdapter(list[ResponseInputItemParam]).validate_python(found, strict=True)
    return found


def test_one_system_message_stands_in_front() -> None:
    found = items(message("system", "You help."), message("user", "Hello."), message("system", "## Tools", breakpoint="static"))
    assert [(item["role"], item["content"]) for item in found] == [("system", "You help.\n\n## Tools"), ("user", "Hello.")]


def test_a_note_and_what_was_written_are_two_parts_and_a_part_alone_is_plain_text() -> None:
    noted = message("user", MessagePart("Ana:\n", is_note=True), "Hello.")
    first, *others = items(noted, message("assistant", "Hi."), ASK)
    assert first["content"] == [{"type": "input_text", "text": "Ana:\n"}, {"type": "input_text", "text": "Hello."}]
    assert [(item["role"], item["content"]) for item in others] == [("assistant", "Hi."), ("user", "And now?")]


def test_two_texts_of_the_assistant_are_two_items() -> None:
    assert [item["content"] for item in items(message("assistant", "One.", "Two."), ASK)] == ["One.", "Two.", "And now?"]


def test_the_calls_of_a_message_come_after_its_words_and_their_outputs_after_them() -> None:
    both = message("assistant", "I look.", exchanges=(*call("r1").exchanges, *call("r2", results=("no", "yes")).exchanges))
    said, *calls = items(both, ASK)[:-1]
    assert said == {"type": "message", "role": "assistant", "content": "I look."}
    assert calls == [
        {"type": "function_call", "call_id": "r1", "name": "search", "arguments": "{}"},
        {"type": "function_call", "call_id": "r2", "name": "search", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "r1", "output": "found"},
        {"type": "function_call_output", "call_id": "r2", "output": "no\nyes"},
    ]
    assert [item["type"] for item in items(call("r1"))] == ["function_call", "function_call_output"]


@pytest.mark.parametrize("name", ["a b", "é", "x" * 99, "", "r1"])
def test_calls_have_ids_of_their_own_that_the_api_takes(name: str) -> None:
    names = [item["call_id"] for item in items(call(name), call(name)) if item["type"] == "function_call"]
    assert len(set(names)) == 2
    assert all(0 < len(each) <= MAX_ID_CHARS for each in names)


def test_images_of_people_and_of_tools_are_sent_and_those_of_agents_are_not() -> None:
    asked = message("user", "This?", images=(PICTURE, Image(url="https://example.org/a.png")))
    said, _, output, last = items(message("assistant", "See.", images=(PICTURE,)), call("r1", images=(PICTURE,)), asked)
    assert said["content"] == "See."
    sent = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}
    assert output["output"] == [sent, {"type": "input_text", "text": "found"}]
    assert [part["type"] for part in last["content"]] == ["input_image", "input_image", "input_text"]
    assert last["content"][1]["image_url"] == "https://example.org/a.png"


def test_the_service_reads_the_items_as_what_they_were_made_of() -> None:
    conversation = Conversation("s")
    found = items(message("user", "Hello."), message("assistant", "I look."), call("r1"), message("assistant", "Found."))
    bodies = [body for item in found for body in message_bodies(item, conversation)]
    assert [schema for schema, _ in bodies] == [
        "user.message.v1",
        "agent.response.v1",
        "agent.response.v1",
        "tool.response.v1",
        "agent.response.v1",
    ]
    assert bodies[3][1] == {"tool": "search", "request_id": "r1", "status": "success", "output": "found"}


def test_the_rules_of_the_tests_see_an_output_that_is_missing_too_early_or_twice_and_what_is_empty() -> None:
    use, output, ask = items(call("r1"), ASK)
    wrong = [
        [use, ask],
        [output, use, ask],
        [use, output, output],
        [output],
        [use, use, output],
        [use, output, ask | {"content": ""}],
    ]
    assert all(map(broken_by_responses, [*wrong, []]))
