"""Which breadcrumbs are one unit."""

from tests.conversations import answered, bash, replied, requested, said, sent
from tests.factories import (
    make_history,
    make_place,
    make_remembered,
    make_view,
    view_of,
)

KILN, RAIN = "We fired the kiln in Delft.", "It rained all afternoon."


def test_an_edit_in_another_session_joins_no_unit() -> None:
    rows = [
        make_remembered(KILN, 1, session="s1", id="same"),
        make_remembered(RAIN, 2, session="s2", id="same", version=2),
    ]
    view = view_of(make_history(rows), session="s2")
    assert view.members(0) == (0,)
    assert view.units == 1


def test_a_message_with_its_calls_and_their_results_is_one_unit() -> None:
    rows = [
        said(1, "Go."),
        replied(2, "I look.", bash("a", "ls"), bash("b", "pwd")),
        answered(3, "b", 1),
        answered(4, "a", 2),
        said(5, "Fine."),
    ]
    view = make_view(rows)
    assert [view.unit_of(row) for row in range(5)] == [0, 1, 1, 1, 4]
    assert view.members(3) == (1, 2, 3)
    assert view.units == 3


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
