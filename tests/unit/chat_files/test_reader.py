"""Files of chats and records become events with ids that stay; what cannot be read is named by its line."""

import json
from typing import Any

import pytest

from builder.chat_files.ids import derived_id, scoped_id
from builder.chat_files.reader import FileContent, read_file, refusal_lines

HELLO = {"role": "user", "content": "Where is the kiln?", "name": "Maya"}
CALL = {
    "role": "assistant", "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"where": "yard"}'}}],
}  # fmt: skip
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "It is there."}
ANSWER = {"role": "assistant", "content": "In the yard."}
CHAT: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, HELLO, CALL, RESULT, ANSWER]


def content_of(*values: Any, session: str = "s1") -> FileContent:
    return read_file([json.dumps(value) for value in values], "acme", session)


def records(*values: Any, session: str = "s1") -> list[dict[str, Any]]:
    return [json.loads(each.event.data) for each in content_of(*values, session=session).events]


def words(*values: Any) -> list[str]:
    return [record["context"].get("content") or record["context"].get("message") for record in records(*values)]


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


@pytest.mark.parametrize(
    "fields", [{"sent_at": "yesterday"}, {"create_time": {"seconds": 1714}}, {"thread_id": {"id": "7"}}, {"sender": "me"}]
)
def test_a_field_of_another_program_that_says_nothing_is_as_if_it_were_not_there(fields: dict[str, Any]) -> None:
    plain = {"role": "user", "content": "Hot?", "id": "1"}
    assert records(plain | fields) == records(plain)


def test_a_line_of_messages_and_lines_of_single_messages_give_the_same_records() -> None:
    assert records({"messages": CHAT}) == records(*CHAT)
    assert content_of({"messages": CHAT}).system_messages == 1


@pytest.mark.parametrize("text", [json.dumps({"messages": CHAT}, indent=2), json.dumps(CHAT, indent=1), json.dumps(CHAT)])
def test_a_file_that_is_one_value_is_read_whole(text: str) -> None:
    content = read_file(text.split("\n"), "acme", "s1")
    assert [json.loads(each.event.data) for each in content.events] == records(*CHAT)


def test_ids_stay_when_a_conversation_grows_and_differ_for_the_same_words_said_twice() -> None:
    short = [record["id"] for record in records(HELLO, ANSWER, HELLO)]
    assert len(set(short)) == 3
    assert [record["id"] for record in records(HELLO, ANSWER, HELLO, CALL)][:3] == short
    assert records(HELLO, session="s2")[0]["id"] != short[0]


def test_ids_stay_when_an_export_gets_new_fields() -> None:
    newer: list[dict[str, Any]] = [{**message, "score": 0.5, "refusal": None, "name": "M."} for message in CHAT]
    assert [record["id"] for record in records(*newer)] == [record["id"] for record in records(*CHAT)]
    parts = {**HELLO, "content": [{"type": "text", "text": "Where is "}, {"type": "text", "text": "the kiln?"}]}
    assert records(parts)[0]["id"] == records(HELLO)[0]["id"]


def test_an_id_is_one_of_its_conversation() -> None:
    first, second = records(
        {"session_id": "a", "messages": [{**HELLO, "id": "1"}]}, {"session_id": "b", "messages": [{**ANSWER, "id": "1"}]}
    )
    assert (first["id"], second["id"]) == ("a:1", "b:1")
    assert records({**HELLO, "id": 5})[0]["id"] == "s1:5"


@pytest.mark.parametrize("identity", ["msg 1", "a\nb", "x" * 300, "a\u200bb"])
def test_an_id_that_no_record_may_have_becomes_one(identity: str) -> None:
    assert records({**HELLO, "id": identity})[0]["id"] == derived_id(f"s1\0{identity}") == scoped_id("s1", identity)


def test_what_a_message_replies_to_is_named_by_the_id_of_its_breadcrumb() -> None:
    _, reply = records({**ANSWER, "id": "a0"}, {**HELLO, "reply_to": "a0", "quoted": "In the"})
    assert reply["context"] == {"content": "Where is the kiln?", "speaker": "Maya", "reply_to": "s1:a0", "quoted": "In the"}


def test_the_later_text_of_an_id_is_its_next_version() -> None:
    partial, whole = records({**ANSWER, "id": "m7"}, {**ANSWER, "content": "In the yard, behind the wall.", "id": "m7"})
    assert (partial["id"], partial.get("version"), whole["id"], whole["version"]) == ("s1:m7", None, "s1:m7", 2)
    question, answer = records({**HELLO, "id": "turn"}, {**ANSWER, "id": "turn"})
    assert question["id"] != answer["id"]


def test_each_message_names_the_id_that_earlier_releases_gave_it() -> None:
    own, other = content_of({**HELLO, "id": "m1"}, ANSWER).events
    assert own.former == "m1"
    assert other.former == derived_id('s1\0001\0{"content":"In the yard.","role":"assistant"}')


def test_each_line_of_messages_is_a_conversation_of_its_own_unless_it_names_one() -> None:
    several = records({"messages": [HELLO]}, {"messages": [HELLO]}, {"session_id": "mine", "messages": [HELLO]})
    assert [record["session"] for record in several] == ["s1", "s1-2", "mine"]


def test_times_are_taken_where_a_message_has_one() -> None:
    lines = (
        {**HELLO, "created_at": 0},
        {**ANSWER, "timestamp": "2024-05-08T09:00:00+02:00"},
        {**HELLO, "createdAt": 1777888000123},
        ANSWER,
    )
    times = [record.get("created_at") for record in records(*lines)]
    assert times == ["1970-01-01T00:00:00Z", "2024-05-08T09:00:00+02:00", *["2026-05-04T09:46:40.123000Z"] * 2]


def test_times_without_a_zone_are_counted_and_said_once() -> None:
    content = content_of({**HELLO, "timestamp": "2026-05-04T10:00:00"}, {**ANSWER, "timestamp": "2026-05-04 10:00:01"})
    assert content.notes() == ["times without a zone, read as UTC: 2"]


def test_what_a_system_says_on_the_way_is_a_line_and_the_first_ones_are_counted() -> None:
    content = content_of(
        CHAT[0], {"role": "developer", "content": "Be kind."}, HELLO, {"role": "System", "content": "Mail is off."}, ANSWER
    )
    _, system, _ = (json.loads(each.event.data) for each in content.events)
    assert (system["context"]["message"], system["context"]["speaker"]) == ("Mail is off.", "System")
    assert content.system_messages == 2


def test_requests_that_carry_the_whole_history_are_read_once() -> None:
    turns = [HELLO, ANSWER, {"role": "user", "content": "Is it hot?"}, {"role": "assistant", "content": "Yes."}]
    requests = [{"session": "s", "messages": [CHAT[0], *turns[:count]]} for count in (1, 2, 3, 4)]
    assert records(*requests) == records({"session": "s", "messages": [CHAT[0], *turns]})
    assert content_of(*requests).repeats == 1 + 2 + 3 + 3  # with the system prompts


def test_records_stay_as_they_are() -> None:
    line = {
        "id": "a",
        "schema_name": "note.v1",
        "session": "s9",
        "context": {"role": "user", "content": "x"},
        "visibility": "team",
    }
    content = content_of(line)
    assert (json.loads(content.events[0].event.data), content.events[0].former) == (line, "")
    assert content.events[0].event.subject == "breadcrumbs.acme.s9.note.v1"


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"role": "robot", "content": "x"}, "role 'robot' is unknown; use one of user, human"),
        ({"role": ["user"], "content": "x"}, "role a list of 1 is unknown; use one of user"),
        ({"role": "user"}, "a message of the role 'user' has no content"),
        ({"role": "user", "content": "x", "timestamp": "soon"}, "timestamp is 'soon', which is no time"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "a tool call has no name"),
        ({"role": "assistant", "tool_calls": 5}, "tool_calls is a number; write a list of calls"),
        ({"messages": ["x"], "role": ""}, "message 1: a message is a text of 1 characters"),
        ({"messages": [{"role": "user", "content": "y"}], "session": ["a"]}, "the session is a list of 1; write a text"),
        ({"text": "x"}, "it is neither a record nor a chat message; write"),
        (5, "it is a number; write a record or a chat message as a JSON object"),
        ({"mapping": {}}, "this is an export of ChatGPT, which is not read yet; write"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line_in_the_file_and_the_rest_is_read(message: Any, sentence: str) -> None:
    content = read_file([json.dumps(HELLO), "", json.dumps(message), json.dumps(ANSWER)], "acme", "s1")
    assert len(content.events) == 2
    (refusal,) = content.refusals
    assert str(refusal).startswith(f"line 3: {sentence}")


def test_many_lines_of_one_export_are_one_sentence() -> None:
    lines = [{"type": "user", "sessionId": "s", "uuid": str(number), "note": {}} for number in range(5)]
    (refusal,) = content_of(*lines).refusals
    assert str(refusal).startswith(
        "line 1: this is a transcript of Claude Code, which is not read yet; write its messages as lines of "
    )
    assert refusal.reason.endswith("(5 values of the file are of it)")


def test_the_first_refusals_are_named_and_the_others_counted() -> None:
    refusals = content_of(*({"role": "robot"} for _ in range(30))).refusals
    assert [line.partition(":")[0] for line in refusal_lines(refusals, most=2)] == [
        "line 1", "line 2", "and 28 more lines could not be read",
    ]  # fmt: skip


def test_a_session_that_runs_back_is_put_in_order_where_its_lines_are() -> None:
    newest_first = [{**HELLO, "content": f"at {hour}", "timestamp": f"2026-05-04T{hour}:00:00Z"} for hour in (12, 11, 10)]
    other = {"session_id": "other", "messages": [{**ANSWER, "timestamp": "2026-05-04T08:00:00Z"}]}
    content = content_of(newest_first[0], other, *newest_first[1:])
    read = [json.loads(each.event.data)["context"] for each in content.events]
    assert [body.get("content", body.get("message")) for body in read] == ["at 10", "In the yard.", "at 11", "at 12"]
    assert content.notes() == ["sessions whose times run back, read in the order of their times: 1"]


def test_a_whole_answer_is_a_line_of_the_conversation_before_it() -> None:
    question = {"role": "user", "content": "Is it hot?"}
    answers = [
        {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
        {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}]},
        {"candidates": [{"content": {"parts": [{"text": "Yes."}]}}]},
    ]
    for answer in answers:
        content = read_file([json.dumps(each) for each in (question, answer)], "w", "main")
        assert content.refusals == []
        assert [".main." in each.event.subject for each in content.events] == [True, True]


@pytest.mark.parametrize("kind", ["mcp_approval_request", "mcp_list_tools", "item_reference", "mcp_approval_response"])
def test_items_without_words_are_no_bad_lines(kind: str) -> None:
    lines = [json.dumps(each) for each in ({"role": "user", "content": "Go."}, {"type": kind, "id": "i1", "name": "lookup"})]
    content = read_file(lines, "w", "main")
    assert (len(content.events), content.refusals) == (2, [])
