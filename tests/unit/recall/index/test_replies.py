"""What a message points at."""

import json
from typing import Any

import pytest

from builder.recall.index.replies import quoted_words
from tests.factories import make_remembered, make_view

ROWS = [
    make_remembered("Give me options.", 1, id="u0", role="user"),
    make_remembered('1. tin "white",\n2. iron red.', 2, id="a0", role="assistant"),
    make_remembered("And the clay?", 3, id="u1", role="user"),
    make_remembered("word " * 40, 4, id="a1", role="assistant"),
]


def pointed(answers: str = "", **body: Any) -> str:
    reply = make_remembered("The second one.", 5, id="q", role="user", answers=answers, body=json.dumps(body))
    return quoted_words(make_view([*ROWS, reply]), reply.breadcrumb)


@pytest.mark.parametrize(
    "body",
    [{"reply_to": "a0"}, {"in_reply_to": {"message_id": "a0"}}, {"quoted": {"id": "a0", "text": "1. tin"}}, {"answers": "a0"}],
)
def test_the_first_words_of_the_message_that_it_replies_to_are_given(body: dict[str, Any]) -> None:
    assert pointed(**body) == "1. tin 'white', 2. iron red."


def test_words_that_it_quotes_are_given_and_long_ones_are_cut() -> None:
    assert pointed(quoted="two  coats") == "two coats"
    assert pointed(quoted={"text": "long " * 40}) == "long " * 16 + "…"


@pytest.mark.parametrize(
    "body", [{}, {"reply_to": "a1"}, {"reply_to": "m99"}, {"reply_to": "q"}, {"reply_to": 5}, {"quoted": {}}]
)
def test_the_message_before_and_what_is_not_there_are_not_named(body: dict[str, Any]) -> None:
    assert pointed(**body) == ""


def test_nothing_of_another_session_is_given() -> None:
    other = make_remembered("A secret.", 1, id="x", role="assistant", session="elsewhere")
    reply = make_remembered("Yes.", 5, id="q", role="user", body='{"reply_to": "x"}')
    assert quoted_words(make_view([other, *ROWS[2:], reply]), reply.breadcrumb) == ""
