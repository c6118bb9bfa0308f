"""Chats of other systems become records with ids that stay."""

import json
from typing import Any

import pytest

from builder.domain.errors import Rejected
from builder.wire.chat_lines import chat_lines
from builder.wire.records import read_lines

HELLO = {"role": "user", "content": "Where is the kiln?", "name": "Maya"}
CALL = {
    "role": "assistant", "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"where": "yard"}'}}],
}  # fmt: skip
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "It is there."}
ANSWER = {"role": "assistant", "content": "In the yard."}
CHAT = [{"role": "system", "content": "Be brief."}, HELLO, CALL, RESULT, ANSWER]


def records(*values: Any, session: str = "s1") -> list[dict[str, Any]]:
    lines = chat_lines([json.dumps(value) for value in values], session).lines
    return [json.loads(line) for line in lines if line]


def test_each_role_has_its_schema_and_an_answer_names_its_question() -> None:
    question, call, result, answer = records(*CHAT)
    assert (question["schema_name"], question["context"]) == (
        "user.message.v1", {"content": "Where is the kiln?", "speaker": "Maya"},
    )  # fmt: skip
    assert call["schema_name"] == "agent.response.v1"
    assert call["context"]["tool_requests"] == [{"tool": "look", "input": {"where": "yard"}, "requestId": "c1"}]
    assert result["context"] == {"tool": "look", "request_id": "c1", "status": "success", "output": "It is there."}
    assert answer["context"] == {"message": "In the yard.", "trigger_event_id": question["id"]}
    assert {record["session"] for record in (question, call, result, answer)} == {"s1"}


def test_a_line_of_messages_and_lines_of_single_messages_give_the_same_records() -> None:
    assert records({"messages": CHAT}) == records(*CHAT)
    assert chat_lines([json.dumps({"messages": CHAT})], "s1").system_messages == 1


@pytest.mark.parametrize("text", [json.dumps({"messages": CHAT}, indent=2), json.dumps(CHAT, indent=1), json.dumps(CHAT)])
def test_a_file_that_is_one_value_is_read_whole(text: str) -> None:
    lines = chat_lines(text.split("\n"), "s1").lines
    assert [json.loads(line) for line in lines if line] == records(*CHAT)


def test_ids_stay_when_a_conversation_grows_and_differ_for_the_same_words_said_twice() -> None:
    short = [record["id"] for record in records(HELLO, ANSWER, HELLO)]
    assert len(set(short)) == 3
    assert [record["id"] for record in records(HELLO, ANSWER, HELLO, ANSWER)][:3] == short
    assert records(HELLO, session="s2")[0]["id"] != short[0]
    assert records({**HELLO, "id": "own"})[0]["id"] == "own"


def test_each_line_of_messages_is_a_conversation_of_its_own_unless_it_names_one() -> None:
    several = records({"messages": [HELLO]}, {"messages": [HELLO]}, {"session_id": "mine", "messages": [HELLO]})
    assert [record["session"] for record in several] == ["s1", "s1-2", "mine"]


def test_times_are_taken_where_a_message_has_one() -> None:
    times = [
        record.get("created_at")
        for record in records({**HELLO, "created_at": 0}, {**HELLO, "timestamp": "2024-05-08T09:00:00Z"}, HELLO)
    ]
    assert times == ["1970-01-01T00:00:00+00:00", "2024-05-08T09:00:00Z", None]


def test_records_and_broken_lines_stay_as_they_are() -> None:
    lines = ['{"id": "a", "schema_name": "note.v1", "context": {"role": "user"}}', "", "{"]
    assert chat_lines(lines, "s1").lines == tuple(lines)
    assert [event.subject for event in read_lines(chat_lines(lines[:1], "s1").lines, "acme", "s1")] == [
        "breadcrumbs.acme.s1.note.v1"
    ]


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"role": "robot", "content": "x"}, "line 2: role 'robot' is unknown; use one of agent, ai, assistant"),
        ({"role": "user"}, "line 2: a message of the role 'user' has no content"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "line 2: a tool call has no name"),
        ({"messages": ["x"], "role": ""}, "line 2: a message is a text of 1 characters"),
    ],
)
def test_a_message_that_cannot_be_read_is_named_with_its_line(message: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Rejected, match=sentence):
        records(HELLO, message)
