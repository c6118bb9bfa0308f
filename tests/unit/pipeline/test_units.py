"""The hot window, in units that are never split."""

import pytest

from builder.domain.facts import Remembered
from builder.domain.profile import Window
from builder.pipeline.history import History
from builder.pipeline.units import window_size
from tests.factories import FAR, make_history, make_place, make_remembered, make_tombstone, make_view, view_of, window_of

WINDOW = Window(max_units=6, trim_to=3, min_recent=3, max_tool_turns=3, message_share=0.25, keep_share=0.5)
ALL = Window(max_units=1000, trim_to=1000, min_recent=3, max_tool_turns=None, message_share=0.25, keep_share=0.5)


def message(n: int, *calls: str) -> Remembered:
    return make_remembered(f"Message {n}.", n, schema="agent.response.v1" if calls else "user.message.v1", calls=calls)


def request(n: int, call: str) -> Remembered:
    return make_remembered("query", n, schema="tool.request.v1", calls=(call,))


def result(n: int, call: str) -> Remembered:
    return make_remembered(f"Result {n}.", n, schema="tool.response.v1", calls=(call,) if call else ())


def hot(rows: list[Remembered], window: Window = ALL) -> list[list[str]]:
    view = make_view(rows)
    return [[view.history.rows[row].breadcrumb.id for row in unit] for unit in window_of(view, window)]


def test_a_short_session_is_hot_as_a_whole() -> None:
    assert hot([message(n) for n in range(1, 7)], WINDOW) == [[f"m{n}"] for n in range(1, 7)]


def test_the_window_trims_only_above_its_trigger_and_then_jumps() -> None:
    sizes = [window_size(units, WINDOW) for units in range(15)]
    assert sizes == [0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 3, 4, 5, 6]


def test_the_newest_units_are_the_hot_ones() -> None:
    assert hot([message(n) for n in range(1, 9)], WINDOW) == [["m5"], ["m6"], ["m7"], ["m8"]]


def test_a_call_and_its_results_are_one_unit_however_far_apart() -> None:
    rows = [message(1), message(2, "a", "b"), request(3, "a"), message(4), result(5, "b"), result(6, "a"), message(7)]
    assert hot(rows) == [["m1"], ["m2", "m3", "m5", "m6"], ["m4"], ["m7"]]


def test_results_that_come_before_their_call_are_one_unit_with_it() -> None:
    assert hot([result(1, "a"), message(2), message(3, "a")]) == [["m1", "m3"], ["m2"]]


def test_results_of_one_message_become_one_unit_when_it_arrives() -> None:
    rows = [result(1, "a"), result(2, "b"), message(3), message(4, "a", "b"), result(5, "b")]
    assert hot(rows[:3]) == [["m1"], ["m2"], ["m3"]]
    assert hot(rows) == [["m1", "m2", "m4", "m5"], ["m3"]]


def test_an_edited_message_stays_in_its_unit_with_the_calls_that_it_now_makes() -> None:
    edited = make_remembered("Edited.", 5, id="m1", version=2, schema="agent.response.v1", calls=("a", "b"))
    rows = [message(1, "a"), result(2, "a"), result(3, "b"), message(4), edited, result(6, "b")]
    assert hot(rows) == [["m2", "m3", "m1", "m6"], ["m4"]]
    assert hot(rows[:4]) == [["m1", "m2"], ["m3"], ["m4"]]


def test_units_that_were_joined_can_be_joined_again() -> None:
    rows = [result(1, "a"), result(2, "b"), result(3, "c"), message(4, "b", "c"), message(5, "c", "a"), result(6, "b")]
    assert hot(rows[:4]) == [["m1"], ["m2", "m3", "m4"]]
    assert hot(rows) == [["m1", "m2", "m3", "m4", "m5", "m6"]]


def test_joining_units_later_changes_nothing_for_who_looks_from_earlier() -> None:
    rows = [result(1, "a"), result(2, "b"), message(3), message(4, "a", "b"), message(5)]
    whole = make_history(rows)
    for size in range(len(rows) + 1):
        before, after = view_of(make_history(rows[:size]), FAR), view_of(whole, make_place(size + 1))
        assert window_of(after, ALL) == window_of(before, ALL)
        assert after.units == before.units == len(window_of(after, ALL))
        assert [after.members(row) for row in range(size)] == [before.members(row) for row in range(size)]


def test_a_late_result_does_not_drag_an_old_call_into_the_window() -> None:
    rows = [message(1, "a"), *(message(n) for n in range(2, 9)), result(9, "a")]
    assert hot(rows, WINDOW) == [["m5"], ["m6"], ["m7"], ["m8"]]


def test_an_orphan_is_a_unit_of_its_own() -> None:
    assert hot([message(1), result(2, "lost"), result(3, ""), result(4, "")]) == [["m1"], ["m2"], ["m3"], ["m4"]]


def test_breadcrumbs_that_are_no_conversation_take_no_room_in_the_window() -> None:
    notes = [make_remembered("A note.", n, schema="note.v1") for n in range(10, 20)]
    assert hot([message(1), message(2), *notes, message(30)], WINDOW) == [["m1"], ["m2"], ["m30"]]


def test_what_was_removed_or_replaced_is_not_hot() -> None:
    rows = [message(1), message(2), make_tombstone("m1", 3), make_remembered("New.", 4, id="m2", version=2), message(5)]
    assert hot(rows) == [["m2"], ["m5"]]


@pytest.mark.parametrize("keep", [0, 1, 6])
def test_any_keep_up_to_the_trigger_is_allowed(keep: int) -> None:
    window = Window(max_units=6, trim_to=keep, min_recent=0, max_tool_turns=None, message_share=0.25, keep_share=0.5)
    assert window_size(7, window) == keep
    assert all(keep <= window_size(units, window) <= 6 for units in range(7, 100))


def test_a_history_grown_in_steps_is_the_history_grown_at_once() -> None:
    rows = [message(1, "a"), result(2, "b"), message(3), result(4, "a"), message(5, "b"), make_tombstone("m3", 6), message(7)]
    steps = History()
    for row in rows:
        steps.extend((row,))
    assert window_of(view_of(steps, FAR), ALL) == window_of(view_of(make_history(rows), FAR), ALL)
