"""Calls with their results, units of a conversation, and whose memory each breadcrumb belongs to."""

from typing import Any

import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.history import History
from builder.recall.index.links import NOBODY, ToolExchanges
from tests.conversations import answered, bash, replied, requested, said, sent
from tests.factories import make_history, make_place, make_remembered, make_view, view_of


def exchanges_of(rows: list[StoredBreadcrumb]) -> ToolExchanges:
    return make_history(rows).exchanges


def pairs(exchanges: ToolExchanges) -> list[tuple[str, list[int], list[int]]]:
    """Request, callers and results of each exchange once, in the order of the calls."""
    unique = {id(exchange): exchange for calls in exchanges.of_caller.values() for exchange in calls}
    return [(exchange.request, exchange.callers, exchange.results) for exchange in unique.values()]


def test_a_result_that_came_before_its_call_is_paired_once_the_call_has_come() -> None:
    rows = [answered(1, "a", 1), said(2, "Hm."), requested(3, "a", command="ls")]
    assert exchanges_of(rows[:2]).of_result == {}
    exchanges = exchanges_of(rows)
    assert pairs(exchanges) == [("a", [2], [0])]
    assert exchanges.of_result[0] is exchanges.of_caller[2][0]


def test_a_call_that_is_passed_on_is_one_exchange_with_two_callers() -> None:
    rows = [replied(1, "", bash("a", "ls")), requested(2, "a", command="ls"), answered(3, "a", 1)]
    assert pairs(exchanges_of(rows)) == [("a", [0, 1], [2])]


def test_a_request_id_that_is_used_again_begins_another_exchange_that_succeeds_the_first() -> None:
    rows = [replied(1, "", bash("a", "ls")), answered(2, "a", 1), replied(3, "", bash("a", "ls")), answered(4, "a", 2)]
    exchanges = exchanges_of(rows)
    assert pairs(exchanges) == [("a", [0], [1]), ("a", [2], [3])]
    assert [exchange.successor for exchange in (exchanges.of_result[1], exchanges.of_result[3])] == [2, None]


def test_a_later_version_makes_the_same_call_also_when_the_request_id_was_used_since() -> None:
    rows = [
        replied(1, "", bash("a", "ls")),
        replied(2, "", bash("a", "pwd")),
        replied(3, "", bash("a", "id"), id="m1", version=2),
    ]
    exchanges = exchanges_of(rows)
    assert pairs(exchanges) == [("a", [0, 2], []), ("a", [1], [])]
    assert "id" in exchanges.of_caller[0][0].signature


def test_two_calls_under_one_id_of_one_message_are_answered_by_place() -> None:
    rows = [
        replied(1, "", bash("a", "pwd"), bash("a", "ls")),
        answered(2, "a", "/srv"),
        answered(3, "a", "kiln.md"),
        answered(4, "a", "/home", id="m2", version=2),
    ]
    first, second = exchanges_of(rows).of_caller[0]
    assert ("pwd" in first.signature, first.request, first.results) == (True, "a", [1, 3])
    assert ("ls" in second.signature, second.request, second.results) == (True, "a-2", [2])


KILN, RAIN = "We fired the kiln in Delft.", "It rained all afternoon."


def test_an_edit_in_another_session_joins_no_unit() -> None:
    rows = [
        make_remembered(KILN, 1, session="s1", id="same"),
        make_remembered(RAIN, 2, session="s2", id="same", version=2),
    ]
    view = view_of(make_history(rows), session="s2")
    assert view.members(0) == (0,)
    assert view.units == 1


def test_two_units_become_one_by_a_row_that_shares_calls_with_both_and_stay_two_before_it() -> None:
    rows = [
        requested(1, "a", command="ls"),
        requested(2, "b", command="pwd"),
        replied(3, "Both.", bash("a", "ls"), bash("b", "pwd")),
    ]
    history = make_history(rows)
    before, after = view_of(history, make_place(3)), view_of(history)
    assert (before.units, before.unit_of(1), before.members(0)) == (2, 1, (0,))
    assert (after.units, after.unit_of(1), after.members(1)) == (1, 0, (0, 1, 2))


def test_units_that_merge_twice_are_one() -> None:
    calls = [requested(n, call, command=call) for n, call in enumerate("abc", 1)]
    rows = [*calls, replied(4, "", bash("b", "b"), bash("c", "c")), replied(5, "", bash("a", "a"), bash("b", "b"))]
    view = make_view(rows)
    assert view.members(0) == view.members(2) == (0, 1, 2, 3, 4)
    assert view.units == 1
    assert view_of(view.history, make_place(5)).members(2) == (1, 2, 3)


def test_an_edit_and_what_is_no_conversation_open_no_unit() -> None:
    rows = [said(1, "One."), said(2, "Uno.", id="m1", version=2), sent(3, "note.v1", {"content": "A note."})]
    view = make_view(rows)
    assert view.units == 1
    assert view.members(1) == (0, 1)


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
