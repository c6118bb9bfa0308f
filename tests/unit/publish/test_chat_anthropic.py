"""Messages as Anthropic's API takes them."""

from typing import Any

from builder.domain.context import Call, Exchange, Image, Message, MessagePart
from builder.publish.chat import anthropic

USER = Message(role="user", parts=(MessagePart("Hi."),), ids=("m1",))
FAILED = Exchange(call=Call(id="r1", tool="add", arguments='{"a":1}'), results=("no",), ids=("m2",), failed=True)


def turns(*messages: Message) -> list[dict[str, Any]]:
    return [turn.model_dump(exclude_none=True) for turn in anthropic(messages)[1]]


def test_the_system_prompt_is_beside_the_messages_and_marked_at_its_breakpoint() -> None:
    system = Message(role="system", parts=(MessagePart("Be brief."),), ids=(), breakpoint="static")
    (block,), _ = anthropic((system, USER))
    assert block.model_dump(exclude_none=True) == {
        "cache_control": {"type": "ephemeral"}, "type": "text", "text": "Be brief.",
    }  # fmt: skip


def test_a_conversation_that_the_assistant_begins_gets_an_opening_of_the_user() -> None:
    first, *_ = turns(Message(role="assistant", parts=(MessagePart("Hello."),), ids=("m0",)), USER)
    assert (first["role"], [block["text"] for block in first["content"]]) == ("user", ["…"])


def test_results_open_the_next_turn_of_the_user_and_say_that_a_call_failed() -> None:
    _, call, answer = turns(USER, Message(role="assistant", parts=(), ids=("m1",), exchanges=(FAILED,)), USER)
    assert call["content"][0]["input"] == {"a": 1}
    assert [block["type"] for block in answer["content"]] == ["tool_result", "text"]
    assert answer["content"][0]["is_error"] is True


def test_the_mark_of_a_breakpoint_is_on_the_last_block_of_its_message() -> None:
    image = Image(url="https://x.org/k.png")
    message = Message(role="user", parts=(MessagePart("a"), MessagePart("b")), ids=("m1",), images=(image,), breakpoint="recent")
    blocks = turns(message)[0]["content"]
    assert [("cache_control" in block, block["type"]) for block in blocks] == [(False, "image"), (False, "text"), (True, "text")]
