"""The conversation of a view in turns, and when a tool's answer closes one."""

from dataclasses import replace

import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.conversation import (
    closed_turn,
    exchange_of,
    has_other_agents,
    last_row_of_person,
    open_calls,
    outdated_results,
    repeated_calls,
    turns,
)
from tests.conversations import answered, bash, deleted, failed, replied, requested, said, sent, two_sessions
from tests.factories import make_history, make_place, make_view, view_of

Shown = list[tuple[str, str, tuple[str, ...]]]


def entries(rows: list[StoredBreadcrumb], size: int | None = None) -> Shown:
    """Id, request and results of each entry, the oldest first."""
    view = view_of(make_history(rows), make_place(10_000 if size is None else rows[size].breadcrumb.place.sequence))
    crumbs = [row.breadcrumb for row in view.history.rows]
    return [
        (crumbs[entry.row].id, entry.request, tuple(crumbs[row].id for row in entry.results))
        for turn in reversed(list(turns(view)))
        for entry in turn
    ]


def closes(rows: list[StoredBreadcrumb]) -> list[tuple[str, tuple[str, ...]]] | None:
    """Request and results of each call of the turn that the last row closes."""
    view = make_view(rows)
    turn = closed_turn(view, view.size - 1)
    crumbs = [row.breadcrumb for row in view.history.rows]
    return None if turn is None else [(entry.request, tuple(crumbs[row].id for row in entry.results)) for entry in turn]


def test_a_turn_is_a_message_with_all_its_calls_in_the_order_in_which_it_makes_them() -> None:
    rows = [said(1, "Go."), replied(2, "I look.", bash("a", "ls"), bash("b", "pwd")), answered(3, "b", 1), answered(4, "a", 2)]
    assert entries(rows) == [("m1", "", ()), ("m2", "", ()), ("m2", "a", ("m4",)), ("m2", "b", ("m3",))]


def test_a_message_without_words_is_its_calls() -> None:
    assert entries([replied(1, "", bash("a", "ls")), replied(2, "")]) == [("m1", "a", ()), ("m2", "", ())]


def test_two_calls_under_one_id_of_one_message_are_two_calls_with_a_result_each() -> None:
    twice = replied(2, "Both.", bash("a", "pwd"), bash("a", "ls"))
    assert entries([twice, answered(3, "a", 1)]) == [("m2", "", ()), ("m2", "a", ("m3",)), ("m2", "a-2", ())]
    both = [twice, answered(3, "a", 1), answered(4, "a", 2)]
    assert entries(both) == [("m2", "", ()), ("m2", "a", ("m3",)), ("m2", "a-2", ("m4",))]


def test_what_is_no_conversation_is_no_part_of_it() -> None:
    assert entries([sent(1, "note.v1", {"content": "A note."}), said(2, "Hm.")]) == [("m2", "", ())]


def test_as_of_an_earlier_place_a_later_answer_and_a_later_call_are_unknown() -> None:
    rows = [replied(1, "", bash("a", "ls")), said(2, "Hm."), answered(3, "a", 1)]
    assert entries(rows, 2) == [("m1", "a", ()), ("m2", "", ())]
    early = [answered(1, "a", 1), said(2, "Hm."), replied(3, "", bash("a", "ls"))]
    assert entries(early, 2) == [("m1", "", ()), ("m2", "", ())]


def test_an_edited_result_stands_once_with_its_newest_words() -> None:
    rows = [requested(1, "a", command="ls"), answered(2, "a", "one"), answered(3, "a", "two", id="m2", version=2)]
    assert entries(rows) == [("m1", "a", ("m2",))]
    assert make_view(rows).history.rows[2].breadcrumb.version == 2


def test_a_result_that_was_delivered_twice_stands_once_and_another_one_beside_it() -> None:
    rows = [requested(1, "a", command="ls"), answered(2, "a", "one"), answered(3, "a", "one"), answered(4, "a", "two")]
    in_parts = answered(5, "a", {"content": [{"type": "text", "text": "one "}]})
    assert entries([*rows, in_parts]) == [("m1", "a", ("m2", "m4"))]


def test_a_deleted_call_leaves_its_result_alone_and_a_deleted_result_leaves_its_call() -> None:
    rows = [requested(1, "a", command="ls"), answered(2, "a", "one")]
    assert entries([*rows, deleted(3, "m1")]) == [("m2", "", ())]
    assert entries([*rows, deleted(3, "m2")]) == [("m1", "a", ())]
    assert entries([*rows, answered(3, "a", "two"), deleted(4, "m2")]) == [("m1", "a", ("m3",))]


def test_a_call_of_one_session_never_meets_a_result_of_another() -> None:
    rows = [requested(1, "a", command="ls"), answered(2, "a", "theirs", session="s43")]
    assert entries(rows) == [("m1", "a", ())]
    assert exchange_of(make_view(rows), 1) is None


def test_an_answer_closes_its_turn_once_no_other_call_of_it_is_open() -> None:
    rows = [said(1, "Go."), replied(2, "", bash("a", "ls"), bash("b", "pwd")), answered(3, "b", 1)]
    assert closes(rows) is None
    assert closes([*rows, answered(4, "a", 2)]) == closes([*rows, failed(4, "a", "no")]) == [("a", ("m4",)), ("b", ("m3",))]


def test_a_doubled_answer_closes_nothing_and_neither_does_an_edited_one() -> None:
    rows = [replied(1, "", bash("a", "ls")), answered(2, "a", 1)]
    assert closes([*rows, answered(3, "a", 1)]) is None
    assert closes([*rows, answered(3, "a", 1, id="m2", version=2)]) is None


def test_a_person_who_speaks_while_a_tool_runs_keeps_its_turn_open() -> None:
    rows = [said(1, "Go."), replied(2, "", bash("a", "ls"), bash("b", "pwd")), said(3, "And hurry.")]
    assert closes([*rows, answered(4, "a", 1)]) is None
    assert closes([*rows, answered(4, "a", 1), answered(5, "b", 1)]) == [("a", ("m4",)), ("b", ("m5",))]


def test_what_an_agent_says_meanwhile_keeps_its_turn_open() -> None:
    assert closes([replied(1, "", bash("a", "ls")), replied(2, "A moment."), answered(3, "a", 1)]) == [("a", ("m3",))]


def test_bare_calls_in_a_row_are_one_turn() -> None:
    calls = [said(1, "Go."), requested(2, "a", command="ls"), requested(3, "b", command="pwd"), answered(4, "a", 1)]
    assert closes(calls) is None
    assert closes([*calls, answered(5, "b", 2)]) == [("a", ("m4",)), ("b", ("m5",))]


def test_an_answer_to_an_earlier_run_of_bare_calls_closes_that_run() -> None:
    rows = [
        requested(1, "a", command="ls"),
        replied(2, "", bash("b", "pwd")),
        requested(3, "c", command="date"),
        answered(4, "c", 1),
    ]
    assert closes([*rows, answered(5, "a", 2)]) == [("a", ("m5",))]


def test_an_answer_to_a_call_that_nobody_knows_is_answered_by_itself() -> None:
    assert closes([said(1, "Go."), answered(2, "lost", 1)]) == [("", ())]


def test_an_answer_that_joined_from_no_session_closes_the_turn_that_it_joined() -> None:
    joined = replace(answered(3, "a", 1, session="_"), joins="s42")
    assert closes([said(1, "Go."), replied(2, "", bash("a", "ls")), joined]) == [("a", ("m3",))]


@pytest.mark.parametrize(
    ("rows", "row"), [([], -1), ([replied(1, "Hello.")], -1), ([said(1, "One."), replied(2, "Yes."), said(3, "Two.")], 2)]
)
def test_the_last_words_of_a_person_are_where_they_were_first_said(rows: list[StoredBreadcrumb], row: int) -> None:
    assert last_row_of_person(make_view(rows)) == row


def test_a_call_is_repeated_and_its_results_are_outdated_when_the_same_one_was_answered_later_without_an_error() -> None:
    rows = [
        *(replied(1, "", bash("a", "ls")), answered(2, "a", 1)),
        *(replied(3, "", bash("b", "pwd")), answered(4, "b", 2)),
        *(replied(5, "", bash("c", "ls")), answered(6, "c", 3)),
        *(replied(7, "", bash("d", "pwd")), failed(8, "d", "no")),
    ]
    view = make_view(rows)
    again = repeated_calls(view, (entry for turn in turns(view) for entry in reversed(turn)))
    assert [entry.request for entry in again] == ["a"]
    assert outdated_results(view) == {1}


def still_open(rows: list[StoredBreadcrumb], identity: str) -> list[str]:
    """Request ids of the open calls of a message."""
    return [entry.request for entry in open_calls(make_view(rows), identity)]


def test_the_open_calls_of_a_message_are_those_without_an_answer() -> None:
    rows = [said(1, "Go."), replied(2, "", bash("a", "ls"), bash("b", "pwd"), bash("c", "id")), answered(3, "b", 1)]
    assert still_open(rows, "m2") == ["a", "c"]
    assert still_open([*rows, failed(4, "a", "broken"), answered(5, "c", 1)], "m2") == []


def test_a_person_who_speaks_leaves_the_calls_open() -> None:
    rows = [said(1, "Go."), replied(2, "", bash("a", "ls")), said(3, "And hurry.")]
    assert still_open(rows, "m2") == ["a"]
    assert still_open([*rows, replied(4, "", bash("b", "ls"))], "m4") == ["b"]


def test_what_passes_a_call_on_and_what_was_deleted_have_no_open_calls() -> None:
    rows = [replied(1, "", bash("a", "ls")), requested(2, "a", command="ls")]
    assert (still_open(rows, "m1"), still_open(rows, "m2")) == (["a"], [])
    assert still_open([*rows, deleted(3, "m1")], "m1") == []
    assert still_open(rows, "m9") == []


def test_calls_of_an_edited_message_are_those_of_its_newest_version() -> None:
    rows = [replied(1, "", bash("a", "ls"), bash("b", "pwd")), replied(2, "", bash("b", "pwd"), id="m1", version=2)]
    assert still_open(rows, "m1") == ["b"]


def test_a_call_whose_request_id_was_used_again_is_over() -> None:
    rows = [replied(1, "", bash("a", "ls"), bash("b", "id")), replied(2, "", bash("a", "pwd"))]
    assert (still_open(rows, "m1"), still_open(rows, "m2")) == (["b"], ["a"])
    assert still_open(rows[:1], "m1") == ["a", "b"]


def test_the_conversation_is_the_own_sessions() -> None:
    history = make_history(two_sessions())
    for session, rows in (("s1", [0, 2, 4]), ("s2", [1, 3]), ("s3", [])):
        assert [entry.row for turn in turns(view_of(history, session=session)) for entry in turn] == rows[::-1]
    assert [view_of(history, session=name).units for name in ("s1", "s2", "s3")] == [3, 2, 0]


def by(agent: str, row: StoredBreadcrumb) -> StoredBreadcrumb:
    return replace(row, breadcrumb=replace(row.breadcrumb, agent=agent))


def closes_for(agent: str, rows: list[StoredBreadcrumb]) -> list[str] | None:
    """Requests of the turn that the last row closes for the consumer of this agent."""
    view = replace(make_view(rows), agent=agent)
    turn = closed_turn(view, view.size - 1)
    return None if turn is None else [entry.request for entry in turn]


def test_a_result_closes_the_turn_of_the_agent_that_called_and_of_nobody_else() -> None:
    rows = [said(1, "Los."), by("ana", replied(2, "", bash("a", "ls"))), answered(3, "a", 1)]
    assert (closes_for("ana", rows), closes_for("bo", rows)) == (["a"], None)
    unnamed = [said(1, "Los."), replied(2, "", bash("a", "ls")), answered(3, "a", 1)]
    assert (closes_for("ana", unnamed), closes_for("bo", unnamed)) == (["a"], ["a"])
    assert closes_for("bo", [answered(1, "lost", 1)]) == [""]


def test_open_calls_of_another_agent_keep_no_turn_open_and_its_words_divide_none() -> None:
    mine = [by("ana", requested(1, "a", command="ls")), by("ana", requested(3, "c", command="pwd"))]
    theirs = [by("bo", replied(2, "Moment.", bash("b", "ps")))]
    rows = [mine[0], *theirs, mine[1], answered(4, "a", 1), answered(5, "c", 2)]
    assert closes_for("ana", rows) == ["a", "c"]
    assert [entry.request for entry in open_calls(replace(make_view(rows), agent="bo"), "m2")] == ["b"]
    assert open_calls(replace(make_view(rows), agent="ana"), "m2") == ()


def test_other_agents_are_those_whose_words_or_calls_are_shown() -> None:
    rows = [by("ana", replied(1, "Hm.")), by("bo", requested(2, "b", command="ps")), deleted(3, "m2"), replied(4, "Hm.")]
    assert has_other_agents(replace(view_of(make_history(rows), make_place(3)), agent="ana"))
    assert not has_other_agents(replace(make_view(rows), agent="ana"))
    assert not has_other_agents(make_view(rows))
