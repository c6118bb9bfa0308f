"""Variants of vendors' shapes, read as the service reads a file of them: what is said, called and answered, by breadcrumb."""

import json
from typing import Any

import pytest

from builder.chat_files.reader import read_file
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.remember.decode import decode
from tests.factories import MORNING

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
ASKED = {"role": "user", "content": "Wie hoch?"}


def _answer(*parts: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(parts), **fields}


def _call(tool: str, identity: str, **arguments: Any) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


def _texts(*lines: Any) -> list[str]:
    return [f"{each.role}: {each.text}".strip() for each in _read(*lines)]


def _read(*lines: Any) -> list[Breadcrumb]:
    content = read_file(map(json.dumps, lines), "w", "s")
    assert not content.refusals
    return [decode(each.event.arrive(Place(1, number), MORNING)) for number, each in enumerate(content.events, 1)]


RESULTS = {
    "Gemini: a picture beside the response": (
        {"role": "model", "parts": [{"functionCall": {"id": "f", "name": "foto", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "f", "name": "foto", "response": {"status": "fertig"},
         "parts": [{"inlineData": {"mimeType": "image/png", "data": PICTURE, "displayName": "vase.png"}}]}}]},
        "foto status: fertig\n[image vase.png, image/png, 33 bytes]",
    ),
    "Cohere: a document whose data are JSON": (
        {"role": "assistant", "tool_plan": "Erst messen.", "tool_calls": [_call("messen", "c", was="Vase")]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "document", "document": {"data": '{"h": "31 cm"}'}}]},
        "messen h: 31 cm",
    ),
    "Vercel: a person denied the call": (
        _answer(),
        {"role": "assistant", "parts": [{"type": "tool-kauf", "toolCallId": "k", "state": "output-denied", "input": {},
         "approval": {"id": "a", "approved": False, "reason": "zu teuer"}}]},
        "kauf zu teuer",
    ),
    "an object of the tool that has a type and a value": (
        _answer(tool_calls=[_call("messen", "c")]),
        {"role": "tool", "tool_call_id": "c", "content": {"type": "celsius", "value": 31}},
        "messen type: celsius\nvalue: 31",
    ),
    "Responses: what a picture was asked for": (
        {"type": "image_generation_call", "id": "g", "status": "completed", "revised_prompt": "blaue Vase", "result": PICTURE},
        {"type": "computer_call", "id": "i", "call_id": "c", "action": {"type": "click", "x": 12}},
        "image_generation [image, 33 bytes]",
    ),
    "a role of an agent framework": (
        _answer(tool_calls=[_call("messen", "c")]),
        {"role": "toolResult", "toolCallId": "c", "toolName": "messen", "content": "tot", "isError": True},
        "messen tot",
    ),
    "Cohere: outputs beside a tool's role": (
        {"role": "CHATBOT", "message": "Ich messe.", "tool_calls": [{"name": "messen", "parameters": {"was": "Vase"}}]},
        {"role": "TOOL", "tool_results": [{"call": {"name": "messen"}, "outputs": [{"h": "31 cm"}]}]},
        "messen h: 31 cm",
    ),
    "JSON that was written twice": (
        _answer(tool_calls=[_call("messen", "c")]),
        {"role": "tool", "tool_call_id": "c", "content": json.dumps(json.dumps({"pfad": "C:\\ofen"}))},
        "messen pfad: C:\\ofen",
    ),
    "MCP: nothing but data": (
        _answer(tool_calls=[_call("messen", "c")]),
        {"role": "tool", "tool_call_id": "c", "content": {"content": [], "structuredContent": {"h": "31 cm"}}},
        "messen h: 31 cm",
    ),
    "an output under another name": (
        _answer(tool_calls=[_call("messen", "c")]),
        {"role": "tool", "tool_call_id": "c", "response": {"h": "31 cm"}},
        "messen h: 31 cm",
    ),
    "LlamaIndex: blocks, and the call's id beside them": (
        {"role": "assistant", "blocks": [{"block_type": "tool_call", "tool_call_id": "c", "tool_name": "messen"}]},
        {"role": "tool", "blocks": [{"block_type": "text", "text": "31 cm"}], "additional_kwargs": {"tool_call_id": "c"}},
        "messen 31 cm",
    ),
    "Gemini: a result of its interactions": (
        {"role": "model", "content": [{"type": "function_call", "id": "f", "name": "messen", "arguments": {}}]},
        {"role": "user", "content": [{"type": "function_result", "call_id": "f", "name": "messen", "result": {"h": "31 cm"}}]},
        "messen h: 31 cm",
    ),
    "Vercel: sources that only their vendor can read": (
        _answer(),
        {"role": "assistant", "parts": [{"type": "tool-suche", "toolCallId": "s", "state": "output-available", "input": {},
         "output": [{"type": "web_search_result", "url": "https://x.org", "title": "Vasen", "encryptedContent": "EqQBCg"}]}]},
        "suche [source Vasen, https://x.org]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_the_words_of_a_result_are_there(name: str) -> None:
    call, result, words = RESULTS[name]
    assert f"tool: {words}" in _texts(ASKED, call, result)


def test_a_call_that_runs_has_no_result_yet() -> None:
    tool = {"type": "tool-messen", "toolCallId": "c", "state": "input-available", "output": None}
    assert _texts(ASKED, {"role": "assistant", "parts": [tool]}) == ["user: Wie hoch?", "assistant:"]


def test_a_denied_call_and_an_error_of_a_frameworks_result_have_failed() -> None:
    for name in ("Vercel: a person denied the call", "a role of an agent framework"):
        assert _read(ASKED, *RESULTS[name][:2])[-1].failed


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([{"type": "plain", "text": "Ich bin "}, {"type": "bold", "text": "Mia"}, " und neu."], "Ich bin Mia und neu."),
        ([{"type": "text", "text": "Gut \ud83d"}, {"type": "text", "text": "\udc4d so"}], "Gut 👍 so"),
        (["Gut \ud83d", "\udc4d"], "Gut 👍"),
        ([{"type": "text", "text": "a\ud83d"}, {"type": "text", "text": "b"}], "a\ufffd\nb"),
        (["Siehe ", {"type": "text_link", "text": "Anleitung", "href": "https://x.org/m"}], "Siehe Anleitung (https://x.org/m)"),
        ([{"type": "document", "document": {"id": "d1", "data": {"snippet": "31 cm"}}}], "snippet: 31 cm"),
        ([{"type": "text-plain", "text": "Klartext", "mime_type": "text/plain"}], "Klartext"),
        (
            [
                {"type": "text", "text": "In Ulm "},
                {"type": "tool_reference", "title": "Karte", "url": "https://x.org"},
                ", am Tor.",
            ],
            "In Ulm (Karte, https://x.org), am Tor.",
        ),
        ([{"type": "mcp_approval_response", "approve": False, "reason": "zu teuer"}], "[mcp_approval_response] zu teuer"),
        ([{"type": "compaction", "content": "Bisher: Ofen 9."}], "Bisher: Ofen 9."),
        ([{"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/film.mp4"}}}}], "[video s3://b/film.mp4, mp4]"),
    ],
)
def test_the_words_of_a_message_are_there(content: Any, words: str) -> None:
    assert _texts(ASKED, _answer(*content))[-1] == f"assistant: {words}"


@pytest.mark.parametrize(
    ("role", "becomes"),
    [
        ("Client", "user"),
        ("end_user", "user"),
        ("gpt", "assistant"),
        ("LLM", "assistant"),
        ("ipython", "tool"),
        ("tool-call", "assistant"),
        ("tool-response", "tool"),
        ("Observation", "tool"),
    ],
)
def test_a_role_of_other_programs_is_read_as_what_it_is(role: str, becomes: str) -> None:
    assert _read(ASKED, {"role": role, "content": "31 cm"})[-1].role == becomes


def test_an_object_of_a_tool_that_has_a_style_s_name_keeps_its_fields() -> None:
    mail = {"type": "email", "text": "Der Ofen ist kalt.", "subject": "Ofen", "from": "mia@x.org"}
    assert all(word in _texts(ASKED, _answer(mail))[-1] for word in ("Der Ofen ist kalt.", "Ofen", "mia@x.org"))


def test_the_question_of_a_request_stands_behind_its_history() -> None:
    request = {
        "chat_history": [{"role": "USER", "message": "Hallo"}, {"role": "CHATBOT", "message": "Tag"}],
        "message": "Wie hoch?",
    }
    assert _texts(request) == ["user: Hallo", "assistant: Tag", "user: Wie hoch?"]
    assert _texts({"contents": [{"parts": [{"text": "Wie hoch?"}]}]}) == ["user: Wie hoch?"]  # Gemini names no role


def test_two_answers_that_name_one_question_answer_it() -> None:
    first, second = ({"role": "assistant", "content": port, "trigger_event_id": "q"} for port in ("8080", "8443"))
    question, *answers = _read({"role": "user", "id": "q", "content": "Port?"}, first, second)
    assert [each.answers for each in answers] == [question.id] * 2


@pytest.mark.parametrize(
    "field",
    [{"author": "Mia"}, {"author": {"name": "Mia", "role": "user"}}, {"speaker": "Mia"}, {"username": "Mia"}, {"sender": "Mia"}],
)
def test_a_person_is_named_in_any_field(field: dict[str, Any]) -> None:
    assert [each.speaker for each in _read({**ASKED, **field}, {**ASKED, "content": "Und nun?", "sender": "user"})] == [
        "Mia",
        "User",
    ]


@pytest.mark.parametrize("field", ["createTime", "create_time", "sent_at", "sentAt"])
def test_a_time_is_read_in_any_field(field: str) -> None:
    assert _read({**ASKED, field: 1700000000})[0].created_at.year == 2023


@pytest.mark.parametrize("field", ["conversationId", "sessionId", "thread_id", "chat_id"])
def test_two_conversations_of_a_file_are_two_sessions(field: str) -> None:
    assert [each.session for each in _read({**ASKED, field: "rot"}, {**ASKED, field: "blau"})] == ["rot", "blau"]


def test_logs_of_two_conversations_without_names_are_kept_apart() -> None:
    red, blue = (
        [{"role": "user", "content": text}, _answer("Ja"), {"role": "user", "content": "Wo?"}] for text in ("Rot?", "Blau?")
    )
    lists = [{"messages": messages} for messages in (red[:1], blue[:1], red, blue)]
    assert [each.session for each in _read(*lists)] == ["s", "s-2", "s", "s", "s-2", "s-2"]


def test_a_person_answers_the_message_that_they_name() -> None:
    lists = [_answer("1. Rot", id="a"), _answer("1. Kalt", id="b")]
    *_, last = _read(*lists, {**ASKED, "trigger_event_id": "a"})
    assert last.answers == "s:a"


def test_of_two_answers_of_a_training_set_the_better_one_is_read() -> None:
    example = {"input": {"messages": [ASKED]}, "preferred_output": [_answer("31 cm")], "non_preferred_output": [_answer("3 cm")]}
    other = {"prompt": [ASKED], "chosen": [_answer("31 cm")], "rejected": [_answer("3 cm")]}
    assert _texts(example) == _texts(other) == ["user: Wie hoch?", "assistant: 31 cm"]


def _list(*messages: Any) -> dict[str, Any]:
    return {"session": "s", "messages": list(messages)}


HISTORIES = {
    "white space and another prompt": (
        _list({"role": "system", "content": "Montag."}, {**ASKED, "content": "Wie hoch?  \r\n"}),
        _list({"role": "system", "content": "Dienstag."}, ASKED, _answer("31 cm"), {"role": "user", "content": "Danke"}),
    ),
    "calls with other ids and other JSON": (
        _list(
            ASKED,
            _answer(tool_calls=[_call("messen", "c1", was="Vase", wo=2)]),
            {"role": "tool", "tool_call_id": "c1", "content": "31"},
        ),
        _list(
            ASKED,
            _answer(tool_calls=[_call("messen", "x9", wo=2, was="Vase")]),
            {"role": "tool", "tool_call_id": "x9", "content": [{"type": "text", "text": "31"}]},
            _answer("31 cm"),
            {"role": "user", "content": "Danke"},
        ),
    ),
    "a second copy of the dialogue whose calls have other ids": (
        *(each for name in ("c1", "x9") for each in (ASKED, _answer(tool_calls=[_call("messen", name)]),
          {"role": "tool", "tool_call_id": name, "content": "31"}, _answer("31 cm"))),
        {"role": "user", "content": "Danke"},
    ),
    "a log of requests without a name": (
        {"model": "m", "messages": [ASKED]},
        {"model": "m", "messages": [ASKED, _answer("31 cm"), {"role": "user", "content": "Danke"}]},
    ),
    "an edited first question": (
        {**ASKED, "content": f"Und {ASKED['content']}", "id": "1", "parentId": None},
        _answer("Rom also", id="2", parentId={"id": "1"}),
        {**ASKED, "id": "3", "parentId": None},
        _answer("31 cm", id="4", parentId="3"),
        {"role": "user", "content": "Danke", "id": "5", "parentId": "4"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HISTORIES)
def test_what_was_sent_again_or_edited_is_said_once(name: str) -> None:
    words = [text for text in _texts(*HISTORIES[name]) if not text.startswith("tool") and text != "assistant:"]
    assert words == ["user: Wie hoch?", "assistant: 31 cm", "user: Danke"]


def test_a_result_that_came_twice_is_read_once_whatever_its_white_space() -> None:
    call, result = _answer(tool_calls=[_call("messen", "c")]), {"role": "tool", "tool_call_id": "c", "content": "31 cm"}
    assert len(_read(ASKED, call, {**result, "id": "1"}, {**result, "content": "31 cm ", "id": "2"})) == 3


def test_questions_with_their_answers_below_are_no_branches() -> None:
    pairs = [{**ASKED, "content": f"{number}?", "id": f"q{number}", "parentId": None} for number in (1, 2)]
    lines = [each for question in pairs for each in (question, _answer("ja", id=f"a{question['id']}", parentId=question["id"]))]
    assert len(_read(*lines)) == 4
