"""Whose memory each breadcrumb belongs to, and when people talk alone."""

from typing import Any

import pytest

from builder.domain.recall import StoredBreadcrumb
from builder.recall.index.history import History
from builder.recall.index.links import NOBODY
from tests.conversations import answered, bash, replied, requested, said
from tests.factories import make_history, make_remembered


def spoken(sequence: int, user: str, **changes: Any) -> StoredBreadcrumb:
    return make_remembered(f"Words {sequence}.", sequence, user_id=user, **changes)


def reply(sequence: int, answers: str = "", **changes: Any) -> StoredBreadcrumb:
    return make_remembered(f"Reply {sequence}.", sequence, schema="agent.response.v1", answers=answers, **changes)


def persons(*rows: StoredBreadcrumb) -> list[str]:
    history: History = make_history(rows)
    names = {code: name for name, code in history.people.codes.items()} | {NOBODY: ""}
    return [names[int(code)] for code in history.people.person[: len(rows)]]


def test_words_belong_to_the_person_who_said_them_and_to_nobody_without_a_user_id() -> None:
    assert persons(spoken(1, "ada"), spoken(2, ""), spoken(3, "bob")) == ["ada", "", "bob"]


def test_a_response_belongs_to_the_person_whom_it_answers_whoever_spoke_since() -> None:
    assert persons(spoken(1, "ada"), spoken(2, "bob"), reply(3, "m1"), reply(4, "m2"), reply(5, "m3")) == [
        "ada", "bob", "ada", "bob", "ada",
    ]  # fmt: skip


def test_a_response_to_what_is_unknown_belongs_to_nobody() -> None:
    assert persons(spoken(1, "ada"), reply(2, "m99")) == ["ada", ""]


def test_a_response_that_names_nothing_is_said_to_the_last_speaker_of_its_session() -> None:
    rows = (spoken(1, "ada"), spoken(2, "bob", session="s43"), reply(3), reply(4, session="s43"), spoken(5, ""), reply(6))
    assert persons(*rows) == ["ada", "bob", "ada", "bob", "", ""]


def test_what_is_said_before_anybody_spoke_is_said_to_the_first_who_does() -> None:
    assert persons(reply(1), reply(2), spoken(3, "ada"), reply(4)) == ["ada", "ada", "ada", "ada"]
    assert persons(reply(1), spoken(2, ""), spoken(3, "ada")) == ["", "", "ada"]


def test_a_tools_result_belongs_to_whom_its_call_does() -> None:
    rows = (
        spoken(1, "ada"),
        replied(2, "I look.", bash("r1", "ls")),
        spoken(3, "bob"),
        answered(4, "r1", "none"),
    )
    assert persons(*rows) == ["ada", "ada", "bob", "ada"]


def test_an_agent_may_say_itself_to_whom_it_speaks() -> None:
    assert persons(spoken(1, "ada"), reply(2, user_id="bob")) == ["ada", "bob"]


def alone(history: History, size: int, trigger: StoredBreadcrumb | None = None) -> bool:
    return history.people.talk_alone(0, size, trigger.breadcrumb if trigger else None)


def test_people_talk_alone_from_the_second_one_on_until_an_agent_speaks_as_of_every_row() -> None:
    history = make_history((spoken(1, "ada"), spoken(2, "ada"), spoken(3, "bob"), spoken(4, "ada"), reply(5), spoken(6, "bob")))
    assert [alone(history, size) for size in range(7)] == [False, False, False, True, True, False, False]
    assert [alone(history, size, spoken(9, "bob")) for size in range(7)] == [False, True, True, True, True, False, False]
    assert not alone(history, 4, reply(9)), "the agent speaks now"


@pytest.mark.parametrize(
    ("first", "other", "are_two"),
    [
        (said(1, "Hi", "Ada"), said(2, "Hi", "Bob"), True),
        (said(1, "Hi", "Ada"), said(2, "Hi", "Ada"), False),
        (said(1, "Hi", "Ada", user_id="u1"), said(2, "Hi", "Ada Miller", user_id="u1"), False),
        (said(1, "Hi", "Ada", user_id="u1"), said(2, "Hi", "Ada", user_id="u2"), True),
        (said(1, "Hi", "Ada", user_id="u1"), said(2, "Hi", "Bob"), True),
        (said(1, "Hi", "Ada"), said(2, "Hi"), False),
        (said(1, "Hi"), said(2, "Hi"), False),
    ],
)
def test_two_are_told_by_their_user_ids_else_by_their_names(
    first: StoredBreadcrumb, other: StoredBreadcrumb, *, are_two: bool
) -> None:
    assert alone(make_history((first, other)), 2) is are_two


def test_a_call_shows_that_an_agent_is_there() -> None:
    assert not alone(make_history((spoken(1, "ada"), spoken(2, "bob"), requested(3, "r1"))), 3)
