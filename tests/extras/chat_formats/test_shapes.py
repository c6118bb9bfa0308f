"""Neutral messages in the shapes of the providers, with ids and names of calls that they take, every id once."""

import json
import re
from typing import Any, Literal

import pytest

from builder.adapters.templates.pictures import images_of
from builder.assemble.items.rendering import Image
from builder.extras.chat_formats.messages import Exchange, Message, MessagePart
from builder.extras.chat_formats.shapes import MAX_ID_CHARS, acceptable, anthropic, openai
from builder.remember.calls import Call
from tests.chat_rules import broken_by_anthropic, broken_by_openai

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE = Image(media="image/png", data=PNG)


def message(role: Literal["system", "user", "assistant"], *parts: str | MessagePart, **fields: Any) -> Message:
    texts = tuple(part if isinstance(part, MessagePart) else MessagePart(part) for part in parts)
    return Message(role=role, parts=texts, **({"ids": ("m1",)} | fields))


def call(name: str, tool: str = "search", arguments: str = "{}", **fields: Any) -> Message:
    of_call: dict[str, Any] = {"results": ("found",), "ids": ("m2",), "failed": False} | fields
    return message("assistant", exchanges=(Exchange(call=Call(id=name, tool=tool, arguments=arguments), **of_call),))


ASK = message("user", "And now?")


def both(*messages: Message) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """OpenAI's messages, Anthropic's and its system prompt, as JSON, once both would take them."""
    claude = anthropic(messages)
    shapes = [
        [json.loads(each.model_dump_json(exclude_none=True)) for each in shape]
        for shape in (openai(messages)["messages"], claude["messages"], claude["system"])
    ]
    assert broken_by_openai(shapes[0]) == []
    assert broken_by_anthropic(shapes[2], shapes[1]) == []
    return shapes[0], shapes[1], shapes[2]


def identities(*pairs: tuple[str, str]) -> list[tuple[str, str]]:
    """Request id and tool of each call, as they are sent."""
    return [(each.exchanges[0].call.id, each.exchanges[0].call.tool) for each in acceptable(tuple(call(*pair) for pair in pairs))]


def test_ids_and_names_that_providers_take_stay() -> None:
    assert identities(("r1", "web-search"), ("r2", "add")) == [("r1", "web-search"), ("r2", "add")]


def test_repeated_ids_are_numbered_within_the_limit() -> None:
    long = "x" * MAX_ID_CHARS
    names = [name for name, _ in identities(*[(long, "add")] * 3, *[("r1", "add"), ("r1_2", "add"), ("r1", "add")])]
    assert names == [long, f"{'x' * 34}_2", f"{'x' * 34}_3", "r1", "r1_2", "r1_3"]


@pytest.mark.parametrize("name", ["a b", "é", "x" * 41, ""])
def test_an_id_that_no_provider_takes_is_replaced_by_its_hash_always_the_same(name: str) -> None:
    ((first, _),) = identities((name, "add"))
    assert re.fullmatch("call_[0-9a-f]{16}", first)
    assert identities((name, "add")) == [(first, "add")]
    both(call(name), ASK)


@pytest.mark.parametrize(
    ("tool", "name"), [("web.search", "web_search"), ("", "tool"), ("x" * 70, "x" * 64), ("поиск" * 30, "_" * 64)]
)
def test_names_of_tools_have_only_letters_that_providers_take(tool: str, name: str) -> None:
    assert identities(("r1", tool)) == [("r1", name)]
    both(call("r1", tool), ASK)


def test_openai_gets_one_system_message_in_front_and_anthropic_a_block_a_section_with_its_mark() -> None:
    prompt, tools = message("system", "You help."), message("system", "## Tools", breakpoint="static")
    plain, _, blocks = both(prompt, ASK, tools)
    assert [(each["role"], each["content"]) for each in plain] == [("system", "You help.\n\n## Tools"), ("user", "And now?")]
    assert blocks == [
        {"type": "text", "text": "You help."},
        {"type": "text", "text": "## Tools", "cache_control": {"type": "ephemeral"}},
    ]


def test_for_anthropic_the_user_begins() -> None:
    _, turns, _ = both(message("assistant", "Hello."), ASK)
    assert [(turn["role"], turn["content"][0]["text"]) for turn in turns] == [
        ("user", "…"),
        ("assistant", "Hello."),
        ("user", "And now?"),
    ]


def test_a_note_and_what_was_written_are_two_parts_and_a_part_alone_is_plain_text() -> None:
    noted = message("user", MessagePart("Ana:\n", is_note=True), "Hello.")
    plain, turns, _ = both(noted, message("assistant", "Hi."), ASK)
    assert plain[0]["content"] == [{"type": "text", "text": "Ana:\n"}, {"type": "text", "text": "Hello."}]
    assert [each["content"] for each in plain[1:]] == ["Hi.", "And now?"]
    assert [block["text"] for block in turns[0]["content"]] == ["Ana:\n", "Hello."]


def test_two_results_of_a_call_are_one_text_for_openai_and_two_blocks_that_say_of_a_failure_for_anthropic() -> None:
    plain, turns, _ = both(call("r1", results=("no", "yes"), failed=True), ASK)
    assert (plain[1]["role"], plain[1]["content"], plain[1]["tool_call_id"]) == ("tool", "no\nyes", "r1")
    answer = turns[2]["content"][0]
    assert [block["text"] for block in answer["content"]] == ["no", "yes"]
    assert answer["is_error"] is True
    assert '"content":null' in openai((call("r1"),))["messages"][0].model_dump_json(exclude_none=True)


def test_messages_of_one_role_are_one_turn_for_anthropic_and_stay_apart_for_openai() -> None:
    plain, turns, _ = both(message("user", "Hello."), ASK)
    assert len(plain) == 2
    assert [[block["text"] for block in turn["content"]] for turn in turns] == [["Hello.", "And now?"]]


def test_the_users_words_come_behind_the_results_in_their_turn() -> None:
    _, turns, _ = both(message("user", "Hello."), call("r1"), ASK)
    assert [block["type"] for block in turns[-1]["content"]] == ["tool_result", "text"]


def test_arguments_that_are_null_stay_in_the_call() -> None:
    plain, turns, _ = both(call("r1", arguments='{"page":null}'), ASK)
    assert plain[0]["tool_calls"][0]["function"]["arguments"] == '{"page":null}'
    assert turns[1]["content"][0]["input"] == {"page": None}


def test_images_of_people_go_to_both_and_those_of_tools_to_anthropic_and_of_agents_to_neither() -> None:
    asked = message("user", "This?", images=(PICTURE, Image(url="https://example.org/a.png")))
    plain, turns, _ = both(message("assistant", "See.", images=(PICTURE,)), call("r1", images=(PICTURE,)), asked)
    assert plain[0]["content"] == "See."
    assert [part["type"] for part in plain[-1]["content"]] == ["image_url", "image_url", "text"]
    assert plain[-1]["content"][0]["image_url"]["url"] == f"data:image/png;base64,{PNG}"
    assert [block["type"] for block in turns[-1]["content"]] == ["tool_result", "image", "image", "text"]
    assert [part["type"] for part in turns[-1]["content"][0]["content"]] == ["text", "image"]


def test_the_mark_of_a_breakpoint_is_on_the_last_block_of_its_message() -> None:
    _, (turn,), _ = both(message("user", "a", "b", images=(PICTURE,), breakpoint="recent"))
    assert [(block["type"], "cache_control" in block) for block in turn["content"]] == [
        ("image", False),
        ("text", False),
        ("text", True),
    ]


def test_images_are_found_as_every_api_sends_them_and_only_where_providers_take_them() -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image_url", "image_url": {"url": "http://example.org/a.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "UklGRgAA"}},
        {"type": "image", "mimeType": "image/tiff", "data": "SUkqAAAA"},
        {"type": "image", "mimeType": "image/png", "data": "no base64!"},
        {"inline_data": {"mime_type": "image/gif", "data": "R0lGODdh"}},
        {"type": "file", "file": {"file_data": "JVBERi0x", "filename": "image.pdf"}},
    ]
    found = images_of(json.dumps({"content": parts}))
    assert [image.media or image.url for image in found] == ["image/png", "https://example.org/a.png", "image/webp", "image/gif"]


def test_the_rules_of_the_tests_see_an_answer_that_is_missing_torn_away_or_twice() -> None:
    plain, turns, _ = both(call("r1"), ASK)
    use, answer, ask = plain
    assert all(map(broken_by_openai, ([use, ask], [use, ask, answer], [use, answer, answer, ask], [answer, ask])))
    (opening, use, answer), (_, *content) = turns, turns[-1]["content"]
    late = answer | {"content": [*content, turns[-1]["content"][0]]}
    assert all(broken_by_anthropic([], wrong) for wrong in ([answer], turns[:2], [*turns, answer], [opening, use, late]))
