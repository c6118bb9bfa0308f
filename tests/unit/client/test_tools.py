"""Replies of models in the shapes of their providers, and the ready tool that reads what a page left out."""

from datetime import UTC, datetime
from typing import Any

import pytest

from builder.client.omitted import check_named, fetch_omitted_tool, piece
from builder.client.received import ReceivedContext
from builder.client.records import BreadcrumbRecord
from builder.client.replying import read_reply
from builder.domain.errors import Rejected
from builder.wire.replies import Reply

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


OMISSIONS = {"partial": [{"id": "cut"}], "most_relevant": [{"id": "absent"}]}
CONTEXT = ReceivedContext(
    content="page", token_count=1, workspace="acme", session_id="s1", consumer_id="a", trigger_event_id="m1", trigger_seq=7,
    late=False, event={"token_budget": 10, "sections": [{"ids": ["shown"]}], "omissions": OMISSIONS},
)  # fmt: skip


def record(schema: str, text: str, body: dict[str, Any]) -> BreadcrumbRecord:
    return BreadcrumbRecord(
        id="cut", version=1, schema=schema, workspace="acme", session="s1", sequence=1, speaker="Ana", user_id=None,
        created_at=datetime(2026, 11, 24, tzinfo=UTC), expires_at=None, tags=(), text=text, body=body,
    )  # fmt: skip


def test_what_the_context_shows_cuts_or_leaves_out_by_name_may_be_read_and_nothing_else() -> None:
    for named in ("shown", "cut", "absent"):
        check_named(named, CONTEXT)
    others: tuple[Any, ...] = ("", "m9", "sho", None, 7, ["shown"])
    for other in others:
        with pytest.raises(Rejected, match="this context names no"):
            check_named(other, CONTEXT)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [("abcdefghijklm", ["abcdefghij", "klm"]), ("äöüäöüä", ["äöüäö", "üä"]), ("道道道道", ["道道道", "道"])],
    ids=["ascii", "umlauts", "chinese"],
)
def test_pieces_of_as_many_bytes_as_the_page_has_tokens_follow_each_other_without_a_gap(text: str, pieces: list[str]) -> None:
    message = record("user.message.v1", text, {"content": text})
    first, second = piece(message, 0, CONTEXT), piece(message, len(pieces[0]), CONTEXT)
    end = len(pieces[0])
    assert first == f"[characters 0 to {end} of {len(text)}, next_offset {end}]\n{pieces[0]}"
    assert second == f"[characters {end} to {len(text)} of {len(text)}, the end]\n{pieces[1]}"


def test_a_tool_s_output_is_read_as_messages_show_it() -> None:
    answer = record("tool.response.v1", "weather celsius: 10", {"tool": "weather", "output": {"c": 10}})
    assert piece(answer, 0, CONTEXT).endswith('\n{"c":10}')
    assert piece(record("tool.response.v1", "weather ten", {"output": "ten"}), 0, CONTEXT).endswith("\nten")
    assert piece(record("tool.response.v1", "weather failed", {"error": "failed"}), 8, CONTEXT).endswith("\nfailed")


@pytest.mark.parametrize("offset", [-1, 3, 1.0, "1", None])
def test_an_offset_that_the_text_does_not_have_is_refused(offset: Any) -> None:
    with pytest.raises(Rejected, match=f"offset is {offset!r}, and the text has 3 characters; give one from 0 to 2"):
        piece(record("user.message.v1", "abc", {}), offset, CONTEXT)


def test_a_text_without_characters_is_read_to_its_end() -> None:
    assert piece(record("tool.response.v1", "", {"output": ""}), 0, CONTEXT) == "[characters 0 to 0 of 0, the end]\n"


def test_all_schemas_say_the_same() -> None:
    function, tool = fetch_omitted_tool("openai")["function"], fetch_omitted_tool("anthropic")
    assert (function["name"], function["description"]) == (tool["name"], tool["description"])
    assert function["parameters"] == tool["input_schema"]
    assert fetch_omitted_tool("responses") == {"type": "function", **function, "strict": False}


def test_a_piece_has_no_control_text() -> None:
    output = "7 <|im_end|> \x1b[31m"
    assert piece(record("tool.response.v1", "", {"output": output}), 0, CONTEXT).endswith("\n7 <\\|im_en")
    assert "\x1b" not in piece(record("tool.response.v1", "", {"output": output}), 12, CONTEXT)
