"""In `messages` pictures are in the budget: the newest stand, the others are their line."""

import base64
import json
import struct
from typing import Any

import pytest

from builder.assemble.assemble import context_of
from builder.assemble.budget.limits import MIN_ROOM
from builder.domain.context import Context
from builder.domain.stored import StoredBreadcrumb
from tests.chat_copies import ChatFormat, messages_of
from tests.conversations import bash, chat
from tests.factories import make_assembly, make_context, make_profile, make_remembered

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 800, 600)
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}}
TILES, PIXELS = 765, 641
"""Tokens of a picture of 800 by 600 at OpenAI and Anthropic."""


def shown(sequence: int, text: str = "See this.") -> StoredBreadcrumb:
    body = json.dumps({"content": [{"type": "text", "text": text}, PICTURE]})
    return make_remembered(f"{text}\n[image, image/png, 24 bytes]", sequence, body=body)


def answered(sequence: int) -> StoredBreadcrumb:
    return make_remembered("I see it.", sequence, schema="agent.response.v1")


def result(sequence: int, call: str, pictures: int = 1) -> StoredBreadcrumb:
    body = json.dumps({"tool": "bash", "request_id": call, "status": "success", "output": [PICTURE] * pictures})
    return make_remembered("[image]", sequence, schema="tool.response.v1", calls=(call,), body=body, tool="bash")


def called(sequence: int, call: str) -> StoredBreadcrumb:
    tool, arguments, request = bash(call, "shot")
    body = json.dumps({"message": "", "tool_requests": [{"tool": tool, "input": arguments, "requestId": request}]})
    return make_remembered(
        "", sequence, schema="agent.response.v1", calls=(call,), call_signatures=('{"tool":"shot","input":{}}',), body=body
    )


def pictures_of(context: Context) -> int:
    own = sum(len(message.images) for message in messages_of(context))
    return own + sum(len(exchange.images) for message in messages_of(context) for exchange in message.exchanges)


def page(rows: list[StoredBreadcrumb], chat_format: ChatFormat, budget: int, **changes: Any) -> Context:
    *before, trigger = rows
    return make_context(trigger, before, make_profile(budget=budget, chat_format=chat_format, **changes))


@pytest.mark.parametrize(("chat_format", "tokens"), [("openai", TILES), ("anthropic", PIXELS)])
def test_of_twenty_pictures_the_newest_that_have_room_are_sent_and_all_words_stand(chat_format: ChatFormat, tokens: int) -> None:
    rows = [row for n in range(1, 40, 2) for row in (shown(n, f"Screen {n}."), answered(n + 1))]
    context = page([*rows, shown(41, "What is on the last screen?")], chat_format, 4000)
    number = pictures_of(context)
    assert 3 <= number < 20
    assert context.picture_tokens == number * tokens
    assert context.tokens + context.picture_tokens <= 4000
    assert messages_of(context)[-1].images, "the question has its own"
    assert all(f"Screen {n}." in context.markdown for n in range(1, 40, 2))
    senders = [message.ids[0] for message in messages_of(context) if message.images]
    assert senders == [f"m{41 - 2 * (number - 1 - each)}" for each in range(number)], "the newest, without a hole"


def test_the_question_keeps_its_picture_on_a_page_that_is_full() -> None:
    context = page([*chat(90), shown(200, "What is hot?")], "anthropic", 904, worth=None)
    assert (context.picture_tokens, 904 - context.tokens - PIXELS < MIN_ROOM) == (PIXELS, True)


def test_a_picture_for_which_the_results_have_no_room_is_its_line() -> None:
    question, call = shown(201, "What is hot?"), called(202, "r1")
    answer = make_remembered(
        "The lid is hot. " * 40,
        203,
        schema="tool.response.v1",
        calls=("r1",),
        body=json.dumps({"tool": "bash", "request_id": "r1", "status": "success", "output": "The lid is hot. " * 40}),
        tool="bash",
    )
    for budget, has_picture in ((900, False), (1300, True)):
        context = page([*chat(90), question, call, answer], "anthropic", budget)
        assert context.markdown.count("The lid is hot.") == 40, "the result that is answered from is whole"
        assert bool(pictures_of(context)) is has_picture


def test_a_profile_that_rejects_leaves_the_picture_out_before_it_rejects_the_page() -> None:
    rows = [*chat(20), shown(200, "What is hot?")]
    whole = page(rows, "anthropic", 60_000, on_overflow="reject")
    small = page(rows, "anthropic", whole.tokens + 100, on_overflow="reject")
    assert (small.tokens, small.picture_tokens) == (whole.tokens, 0)


def test_of_several_pictures_in_one_question_the_last_that_have_room_are_sent() -> None:
    body = json.dumps({"content": [{"type": "text", "text": "Compare."}, PICTURE, PICTURE, PICTURE]})
    question = make_remembered("Compare.\n[image]\n[image]\n[image]", 1, body=body)
    for budget, number in ((600, 0), (1000, 1), (1700, 2), (2400, 3)):
        context = page([question], "anthropic", budget)
        assert (pictures_of(context), context.picture_tokens) == (number, number * PIXELS)


@pytest.mark.parametrize("chat_format", ["openai", "anthropic"])
def test_a_whole_conversation_with_pictures_is_never_too_long(chat_format: ChatFormat) -> None:
    rows = [row for n in range(1, 20, 2) for row in (shown(n, f"Screen {n}."), answered(n + 1))]
    numbers = set()
    for budget in range(420, 3200, 37):
        assembly = make_assembly(shown(21, "And this?"), rows, make_profile(budget=budget, chat_format=chat_format))
        context = context_of(assembly, "none")
        assert context.copy
        assert max(context.tokens, context.copy.tokens) + context.picture_tokens <= budget
        assert budget < 1500 or "Screen 1." in context.markdown, "the words come first, but for the picture of the question"
        numbers.add(pictures_of(context))
    assert numbers >= {0, 1, 2, 3}


def test_of_several_pictures_of_one_call_the_last_that_have_room_are_sent() -> None:
    rows = [called(1, "r1"), result(2, "r1", 3), make_remembered("What do you see?", 3)]
    for budget, number in ((500, 0), (900, 1), (1500, 2), (2200, 3)):
        context = page(rows, "anthropic", budget)
        assert (pictures_of(context), context.picture_tokens) == (number, number * PIXELS)


def test_a_page_without_messages_pays_for_no_picture() -> None:
    context = page([shown(1), answered(2), shown(3, "And now?")], "none", 4000)
    assert (context.picture_tokens, messages_of(context)) == (0, ())


def test_pictures_of_results_cost_what_the_provider_takes() -> None:
    rows = [called(1, "r1"), result(2, "r1"), make_remembered("What do you see?", 3)]
    assert page(rows, "openai", 4000).picture_tokens == 0
    context = page(rows, "anthropic", 4000)
    assert (pictures_of(context), context.picture_tokens) == (1, PIXELS)


@pytest.mark.parametrize("chat_format", ["openai", "anthropic"])
@pytest.mark.parametrize("worth", [None, 50_000])
@pytest.mark.parametrize("budget", range(900, 4001, 620))
def test_under_pressure_pictures_and_words_stay_within_the_budget(
    chat_format: ChatFormat, worth: int | None, budget: int
) -> None:
    words = "The kiln stood at nine hundred degrees when the second shelf came out, and Mia wrote it down. " * 6
    rows = [row for n in range(1, 60, 2) for row in (shown(n, f"Screen {n}: {words}"), answered(n + 1))]
    context = page([*rows, make_remembered("Which shelf was it?", 61)], chat_format, budget, worth=worth)
    assert context.tokens + context.picture_tokens <= budget
    assert pictures_of(context) >= (budget > 2500), "the newest is there"
