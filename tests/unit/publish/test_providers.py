"""Neutral messages in the shapes of the providers."""

import json
from dataclasses import replace
from typing import Any

from builder.domain.context import Call, Exchange, Image, Message, MessagePart
from builder.publish.chat import MAX_ID_CHARS, acceptable, anthropic, openai
from builder.publish.event import encode
from builder.remember.content import images_of
from tests.chat_rules import broken_by_anthropic, broken_by_openai
from tests.factories import make_context, make_profile
from tests.property.sessions import hear

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LARGE = "QUJD" * 900
ASK = Message(role="user", parts=(MessagePart("And now?"),), ids=("m9",))


def call(name: str, tool: str = "search", arguments: str = "{}", images: tuple[Image, ...] = ()) -> Message:
    exchange = Exchange(
        call=Call(id=name, tool=tool, arguments=arguments), results=("found",), ids=("m2",), failed=False, images=images
    )
    return Message(role="assistant", parts=(), ids=("m1",), exchanges=(exchange,))


def both(*messages: Message) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """OpenAI's messages and Anthropic's, as JSON, once both would take them."""
    plain = [json.loads(message.model_dump_json(exclude_none=True)) for message in openai(messages)]
    system, turns = anthropic(messages)
    dumped = [json.loads(message.model_dump_json(exclude_none=True)) for message in turns]
    assert broken_by_openai(plain) == []
    assert broken_by_anthropic([json.loads(block.model_dump_json(exclude_none=True)) for block in system], dumped) == []
    return plain, dumped


def test_for_anthropic_the_user_begins() -> None:
    _, turns = both(Message(role="assistant", parts=(MessagePart("Hello."),), ids=("m1",)), ASK)
    assert [(turn["role"], turn["content"][0]["text"]) for turn in turns] == [
        ("user", "…"),
        ("assistant", "Hello."),
        ("user", "And now?"),
    ]


def test_a_note_and_what_was_written_are_two_parts_and_a_part_alone_is_plain_text() -> None:
    noted = Message(role="user", parts=(MessagePart("Ana:\n", is_note=True), MessagePart("Hello.")), ids=("m1",))
    plain, turns = both(noted, Message(role="assistant", parts=(MessagePart("Hi."),), ids=("m2",)), ASK)
    assert plain[0]["content"] == [{"type": "text", "text": "Ana:\n"}, {"type": "text", "text": "Hello."}]
    assert [message["content"] for message in plain[1:]] == ["Hi.", "And now?"]
    assert [block["text"] for block in turns[0]["content"]] == ["Ana:\n", "Hello."]


def test_two_results_of_a_call_are_one_text_for_openai_and_two_for_anthropic() -> None:
    (exchange,) = call("r1").exchanges
    twice = Message(role="assistant", parts=(), ids=("m1",), exchanges=(replace(exchange, results=("no", "yes")),))
    plain, turns = both(twice, ASK)
    assert plain[1]["content"] == "no\nyes"
    assert [block["text"] for block in turns[2]["content"][0]["content"]] == ["no", "yes"]


def test_messages_of_one_role_are_one_turn_for_anthropic_and_stay_apart_for_openai() -> None:
    plain, turns = both(Message(role="user", parts=(MessagePart("Hello."),), ids=("m1",)), ASK)
    assert len(plain) == 2
    assert [[block["text"] for block in turn["content"]] for turn in turns] == [["Hello.", "And now?"]]


def test_the_users_words_come_behind_the_results_in_their_turn() -> None:
    _, turns = both(Message(role="user", parts=(MessagePart("Hello."),), ids=("m1",)), call("r1"), ASK)
    assert [block["type"] for block in turns[-1]["content"]] == ["tool_result", "text"]


def test_ids_that_come_twice_or_that_no_provider_takes_are_mapped() -> None:
    odd = "r" * 90, "a b", "r1", "r1", "r1_2", "ключ"
    ids = [message.exchanges[0].call.id for message in acceptable(tuple(map(call, odd)))]
    assert len(set(ids)) == len(ids)
    assert max(map(len, ids)) <= MAX_ID_CHARS
    assert ids[2:4] == ["r1", "r1_2"]
    assert ids[0].startswith("call_")
    both(*map(call, odd), ASK)


def test_tool_names_that_no_provider_takes_are_mapped() -> None:
    plain, _ = both(call("r1", "web.search"), call("r2", "поиск" * 30), ASK)
    assert plain[0]["tool_calls"][0]["function"]["name"] == "web_search"


def test_arguments_that_are_null_stay_in_the_call() -> None:
    plain, turns = both(call("r1", arguments='{"page":null}'), ASK)
    assert plain[0]["tool_calls"][0]["function"]["arguments"] == '{"page":null}'
    assert turns[1]["content"][0]["input"] == {"page": None}


def test_images_of_people_go_to_both_and_those_of_tools_to_anthropic() -> None:
    picture = Image(media="image/png", data=PNG)
    asked = Message(
        role="user", parts=(MessagePart("This?"),), ids=("m9",), images=(picture, Image(url="https://example.org/a.png"))
    )
    plain, turns = both(call("r1", images=(picture,)), asked)
    assert [part["type"] for part in plain[-1]["content"]] == ["image_url", "image_url", "text"]
    assert plain[-1]["content"][0]["image_url"]["url"] == f"data:image/png;base64,{PNG}"
    assert [block["type"] for block in turns[-1]["content"]] == ["tool_result", "image", "image", "text"]
    assert [part["type"] for part in turns[-1]["content"][0]["content"]] == ["text", "image"]


def test_images_are_found_as_every_api_sends_them_and_only_where_providers_take_them() -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image_url", "image_url": {"url": "http://example.org/a.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": PNG}},
        {"type": "image", "mimeType": "image/tiff", "data": PNG},
        {"type": "image", "mimeType": "image/png", "data": "no base64!"},
        {"inline_data": {"mime_type": "image/gif", "data": PNG}},
        {"type": "file", "file": {"file_data": PNG, "filename": "image.pdf"}},
    ]
    found = images_of(json.dumps({"content": parts}))
    assert [(image.media, image.url) for image in found] == [
        ("image/png", ""),
        ("", "https://example.org/a.png"),
        ("image/webp", ""),
        ("image/gif", ""),
    ]


def test_an_event_that_is_too_large_drops_images_then_messages_then_the_second_copy_of_the_page() -> None:
    content = [{"type": "text", "text": "This?"}, {"type": "image", "mimeType": "image/png", "data": LARGE}]
    context = make_context(hear(9, "user.message.v1", {"content": content}), [], make_profile(chat_format="openai"))

    def smaller(than: bytes) -> bytes:
        return encode(context, len(than) - 1)

    whole = encode(context)
    events = [json.loads(data) for data in (whole, smaller(whole), smaller(smaller(whole)), smaller(smaller(smaller(whole))))]
    assert [LARGE in json.dumps(event) for event in events] == [True, False, False, False]
    assert ["messages" in event for event in events] == [True, True, False, False]
    assert ["formatted_context" in event for event in events] == [True, True, True, False]


def test_openai_gets_one_system_message_and_anthropic_a_block_a_section_with_its_mark() -> None:
    front = (
        Message(role="system", parts=(MessagePart("You help."),), ids=()),
        Message(role="system", parts=(MessagePart("## Tools"),), ids=("c",), breakpoint="static"),
    )
    plain, _ = both(*front, ASK)
    system, _ = anthropic((*front, ASK))
    assert plain[0] == {"role": "system", "content": "You help.\n\n## Tools"}
    assert [(block.text, block.cache_control is not None) for block in system] == [("You help.", False), ("## Tools", True)]


def test_the_rules_of_the_tests_see_an_answer_that_is_missing_torn_away_or_twice() -> None:
    plain, turns = both(call("r1"), ASK)
    use, answer, ask = plain
    assert all(map(broken_by_openai, ([use, ask], [use, ask, answer], [use, answer, answer, ask], [answer, ask])))
    (opening, use, answer), (_, *content) = turns, turns[-1]["content"]
    late = answer | {"content": [*content, turns[-1]["content"][0]]}
    assert all(broken_by_anthropic([], wrong) for wrong in ([answer], turns[:2], [*turns, answer], [opening, use, late]))
