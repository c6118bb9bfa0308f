"""One chat message of any vendor as the breadcrumbs that it is."""

from typing import Any

import pytest

from builder.chat_messages.bodies import Body, Conversation, message_bodies
from builder.domain.errors import Rejected

VASE = {"what": "vase"}


def read(*messages: Any) -> list[Body]:
    conversation = Conversation("s1")
    return [body for message in messages for body in message_bodies(message, conversation)]


def calls(bodies: list[Body]) -> list[tuple[str, Any, str]]:
    return [(call["tool"], call["input"], call["requestId"]) for _, body in bodies for call in body.get("tool_requests", ())]


def results(bodies: list[Body]) -> list[tuple[str, str, Any]]:
    found = [body for schema, body in bodies if schema == "tool.response.v1"]
    return [(body["tool"], body["request_id"], body.get("output", body.get("error"))) for body in found]


FUNCTION = {"name": "measure", "arguments": '{"what": "vase"}'}
TURNS: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]},
        {"role": "tool", "tool_call_id": "c1", "content": "31 cm"},
    ],
    "functions": [
        {"role": "assistant", "content": None, "function_call": FUNCTION},
        {"role": "function", "name": "measure", "content": "31 cm"},
    ],
    "responses": [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "id": "f1", "call_id": "c1", **FUNCTION},
        {"type": "function_call_output", "call_id": "c1", "output": "31 cm"},
    ],
    "anthropic": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "measure", "input": VASE}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "31 cm"}]},
    ],
    "gemini": [
        {"role": "model", "parts": [{"functionCall": {"name": "measure", "args": VASE}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "measure", "response": {"output": "31 cm"}}}]},
    ],
    "vercel": [
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "measure", "input": VASE}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "31 cm"}}]},
    ],
    "vercel ui": [
        {"role": "assistant", "parts": [
            {"type": "tool-measure", "toolCallId": "c1", "state": "output-available", "input": VASE, "output": "31 cm"},
        ]},
    ],
    "bedrock": [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "measure", "input": VASE}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": "31 cm"}}]},
    ],
    "ollama": [
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "measure", "arguments": VASE}}]},
        {"role": "tool", "tool_name": "measure", "content": "31 cm"},
    ],
    "langchain": [
        {"type": "ai", "data": {"content": "", "tool_calls": [{"id": "c1", "name": "measure", "args": VASE}]}},
        {"type": "tool", "data": {"content": "31 cm", "tool_call_id": "c1"}},
    ],
}  # fmt: skip


@pytest.mark.parametrize("vendor", TURNS)
def test_a_call_and_its_result_are_a_pair_in_the_shape_of_every_vendor(vendor: str) -> None:
    bodies = read(*TURNS[vendor])
    ((tool, arguments, request),) = calls(bodies)
    assert (tool, arguments) == ("measure", VASE)
    assert results(bodies) == [("measure", request, "31 cm")]
    assert [schema for schema, _ in bodies][-2:] == ["agent.response.v1", "tool.response.v1"]


def test_what_a_person_says_beside_a_result_is_theirs() -> None:
    (_, call), (schema, result), (other, words) = read(
        TURNS["anthropic"][0],
        {
            "role": "user",
            "content": [*TURNS["anthropic"][1]["content"], {"type": "text", "text": "And the bowl?"}],
            "name": "Ann",
        },
    )
    assert (schema, result["tool"], call["tool_requests"][0]["requestId"]) == ("tool.response.v1", "measure", "c1")
    assert (other, words) == ("user.message.v1", {"content": [{"type": "text", "text": "And the bowl?"}], "speaker": "Ann"})


def test_words_after_the_result_of_a_vendor_s_own_tool_are_a_message_of_their_own() -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "kiln"}}
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"title": "Kilns"}]}
    bodies = read({"role": "assistant", "content": ["I look.", search, result, "Found."]})
    assert [(schema, body.get("message")) for schema, body in bodies] == [
        ("agent.response.v1", ["I look."]), ("tool.response.v1", None), ("agent.response.v1", ["Found."]),
    ]  # fmt: skip
    assert results(bodies) == [("web_search", "s1", [{"title": "Kilns"}])]


@pytest.mark.parametrize("name", ["c0", ""])
def test_two_calls_under_one_id_or_none_are_paired_by_place(name: str) -> None:
    made = [{"id": name, "function": {"name": "price", "arguments": {"of": each}}} for each in ("mug", "bowl")]
    told = [{"role": "tool", "tool_call_id": name, "content": f"{each} costs"} for each in ("mug", "bowl")]
    bodies = read({"role": "assistant", "content": None, "tool_calls": made}, *told)
    (_, mug, first), (_, bowl, second) = calls(bodies)
    assert first != second
    assert (mug, bowl) == ({"of": "mug"}, {"of": "bowl"})
    assert results(bodies) == [("price", first, "mug costs"), ("price", second, "bowl costs")]


def test_a_call_that_is_listed_twice_is_one() -> None:
    made = {"id": "c0", "function": {"name": "price", "arguments": {"of": "mug"}}}
    bodies = read({"role": "assistant", "content": None, "tool_calls": [made, made]}, {"role": "tool", "tool_call_id": "c0"})
    assert calls(bodies) == [("price", {"of": "mug"}, "c0")]
    assert results(bodies) == [("price", "c0", None)]


def test_an_answer_in_several_messages_is_one_answer() -> None:
    conversation = Conversation("s1", question="q1")
    said = [message_bodies({"role": "assistant", "content": text}, conversation)[0][1] for text in ("Day 1.", "Day 2.")]
    assert [body.get("trigger_event_id") for body in said] == ["q1", None]


def test_a_thought_before_a_call_answers_nothing() -> None:
    conversation = Conversation("s1", question="q1")
    bodies = [body for message in TURNS["responses"] for body in message_bodies(message, conversation)]
    assert [body.get("trigger_event_id") for schema, body in bodies if schema == "agent.response.v1"] == [None, "q1"]


def test_what_says_nothing_answers_nothing() -> None:
    conversation = Conversation("s1", question="q1")
    bodies = [body for kind in ("mcp_list_tools", "reasoning") for body in message_bodies({"type": kind}, conversation)]
    assert [body.get("trigger_event_id") for _, body in bodies] == [None, None]


def test_the_name_of_an_item_is_its_tool_s_and_of_nobody_else() -> None:
    item = {"type": "function_call", "call_id": "c1", **FUNCTION}
    assert ["speaker" in body for _, body in read(item)] == [False]
    assert read({"role": "assistant", "name": "Bo", "content": "Hm."})[0][1]["speaker"] == "Bo"


def test_a_call_in_the_older_field_beside_the_newer_one_is_one_call() -> None:
    message = {"role": "assistant", "content": "x", "function_call": FUNCTION, "tool_calls": [{"id": "q", "function": FUNCTION}]}
    assert calls(read(message)) == [("measure", VASE, "q")]


def test_marks_between_calls_and_words_are_no_words() -> None:
    tool = {"type": "tool-measure", "toolCallId": "c1", "state": "output-available", "input": VASE, "output": "31 cm"}
    parts = [{"type": "step-start"}, tool, {"type": "step-start"}, {"type": "text", "text": "Done."}]
    bodies = read(
        {"role": "assistant", "parts": [*parts, {"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c4"}]}
    )
    assert [body["message"] for _, body in bodies if "message" in body] == [[], [{"type": "text", "text": "Done."}]]
    assert len(calls(bodies)) == 1


def test_results_of_gemini_s_older_role_are_read() -> None:
    call, answer = TURNS["gemini"]
    assert results(read(call, {**answer, "role": "function"})) == results(read(*TURNS["gemini"]))
    assert results(read({"role": "tool", "parts": [{"text": "x"}]})) == [("tool", "", [{"text": "x"}])]


def test_an_id_that_a_later_message_uses_again_is_its_call_s() -> None:
    bodies = read(*TURNS["openai"], *TURNS["openai"])
    assert [request for _, _, request in calls(bodies)] == [request for _, request, _ in results(bodies)] == ["c1", "c1"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": "Done."}, "Done."),
        ({"content": {"text": "Done."}}, [{"text": "Done."}]),
        ({"content": None, "refusal": "No."}, [{"type": "refusal", "refusal": "No."}]),
        ({"content": "", "reasoning_content": "Lid first."}, [{"type": "reasoning", "text": "Lid first."}]),
        ({"content": None, "audio": {"transcript": "Done."}}, [{"type": "audio", "audio": {"transcript": "Done."}}]),
    ],
)
def test_fields_beside_the_content_are_read(fields: dict[str, Any], words: Any) -> None:
    ((_, body),) = read({"role": "assistant", **fields})
    assert body["message"] == words


def test_a_system_message_is_one_of_the_conversation_only_after_words() -> None:
    system = {"role": "system", "content": "Mail is off."}
    assert read(system) == read({"role": "system", "model": "m1"}) == []
    *_, (schema, body) = read({"role": "user", "content": "Hello."}, system)
    assert (schema, body["message"], body["speaker"]) == ("agent.response.v1", "Mail is off.", "System")


@pytest.mark.parametrize("field", ["error", "annotations", "function_call", "refusal"])
def test_an_answer_that_was_broken_off_is_an_empty_one(field: str) -> None:
    assert [body["message"] for _, body in read({"role": "assistant", "model": "m1", field: None})] == [""]


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("x", "a message is a text of 1 characters"),
        ({"role": "user"}, "a message of the role 'user' has no content"),
        ({"role": "assistant", "body": "31 cm"}, "a message of the role 'assistant' has no content"),
        ({"role": "robot", "content": "x"}, "role 'robot' is unknown; use one of user, human"),
        ({"role": "user", "content": [5]}, "a content part is int; use text or an object with a text field"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "a tool call has no name; write"),
        ({"role": "assistant", "tool_calls": 5}, "tool_calls is a number; write a list of calls"),
    ],
)
def test_what_is_no_message_is_refused_with_what_to_write(message: Any, sentence: str) -> None:
    with pytest.raises(Rejected, match=sentence):
        read(message)
