"""Limits of the conversation by units: a message, or an agent's message with all its tool calls."""

from dataclasses import replace

import pytest

from builder.assemble.budget.units import last_trim_row, window_size
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.index.history import History
from tests.conversations import answered, bash, replied, said
from tests.factories import FAR, make_history, make_place, make_profile, make_tombstone, make_view, view_of

WINDOW = replace(make_profile().window, max_units=6, trim_to=3)


def message(n: int, *calls: str) -> StoredBreadcrumb:
    return replied(n, f"Message {n}.", *(bash(call, "ls") for call in calls)) if calls else said(n, f"Message {n}.")


def result(n: int, call: str) -> StoredBreadcrumb:
    return answered(n, call, f"Result {n}.")


def units(rows: list[StoredBreadcrumb]) -> list[tuple[str, ...]]:
    """Ids of each unit, the oldest first."""
    view = make_view(rows)
    heads = dict.fromkeys(view.unit_of(row) for row in range(view.size) if view.in_conversation(row))
    assert view.units == len(heads)
    return [tuple(rows[member].breadcrumb.id for member in view.members(head)) for head in heads]


def test_the_window_trims_only_above_its_most_units_and_then_jumps() -> None:
    sizes = [window_size(units, WINDOW) for units in range(15)]
    assert sizes == [0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 3, 4, 5, 6]


@pytest.mark.parametrize("keep", [0, 1, 6])
def test_it_may_be_trimmed_to_anything_up_to_its_most_units(keep: int) -> None:
    window = replace(WINDOW, trim_to=keep)
    assert window_size(7, window) == keep
    assert all(keep <= window_size(units, window) <= 6 for units in range(7, 100))


def test_without_a_limit_every_unit_is_in_it() -> None:
    assert window_size(10_000, replace(WINDOW, max_units=None)) == 10_000


def test_the_row_of_the_last_jump_is_the_one_with_which_it_was_trimmed() -> None:
    rows = [message(n) for n in range(1, 16)]
    jumps = [last_trim_row(make_view(rows[:size]), WINDOW) for size in range(16)]
    assert jumps == [0] * 7 + [6] * 4 + [10] * 4 + [14]
    assert last_trim_row(make_view(rows), replace(WINDOW, max_units=None)) == 0


def test_a_call_and_its_results_are_one_unit_however_far_apart() -> None:
    rows = [message(1), message(2, "a", "b"), message(3), result(4, "b"), result(5, "a"), message(6)]
    assert units(rows) == [("m1",), ("m2", "m4", "m5"), ("m3",), ("m6",)]


def test_results_that_come_before_their_call_are_one_unit_with_it() -> None:
    rows = [result(1, "a"), result(2, "b"), message(3), message(4, "a", "b"), result(5, "b")]
    assert units(rows[:3]) == [("m1",), ("m2",), ("m3",)]
    assert units(rows) == [("m1", "m2", "m4", "m5"), ("m3",)]


def test_an_edited_message_stays_in_its_unit_with_the_calls_that_it_now_makes() -> None:
    edited = replied(5, "Edited.", bash("a", "ls"), bash("b", "ls"), id="m1", version=2)
    rows = [message(1, "a"), result(2, "a"), result(3, "b"), message(4), edited, result(6, "b")]
    assert units(rows) == [("m1", "m2", "m3", "m1", "m6"), ("m4",)]
    assert units(rows[:4]) == [("m1", "m2"), ("m3",), ("m4",)]


def test_units_that_were_joined_can_be_joined_again() -> None:
    rows = [result(1, "a"), result(2, "b"), result(3, "c"), message(4, "b", "c"), message(5, "c", "a"), result(6, "b")]
    assert units(rows[:4]) == [("m1",), ("m2", "m3", "m4")]
    assert units(rows) == [("m1", "m2", "m3", "m4", "m5", "m6")]


def test_joining_units_later_changes_nothing_for_who_looks_from_earlier() -> None:
    rows = [result(1, "a"), result(2, "b"), message(3), message(4, "a", "b"), message(5)]
    whole = make_history(rows)
    for size in range(len(rows) + 1):
        before, after = make_view(rows[:size]), view_of(whole, make_place(size + 1))
        assert after.units == before.units
        assert [after.members(row) for row in range(size)] == [before.members(row) for row in range(size)]


def test_a_history_grown_in_steps_is_the_history_grown_at_once() -> None:
    rows = [message(1, "a"), result(2, "b"), message(3), result(4, "a"), message(5, "b"), make_tombstone("m3", 6), message(7)]
    steps = History()
    for row in rows:
        steps.extend((row,))
    grown, at_once = view_of(steps, FAR), make_view(rows)
    assert [grown.members(row) for row in range(7)] == [at_once.members(row) for row in range(7)]
    assert grown.units == at_once.units
