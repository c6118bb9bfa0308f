"""Imports stand at the time at which they were said, live messages where they came."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.chronology import in_order_of_time
from builder.recall.index.history import History
from tests.factories import FAR, MORNING, extend, make_place, make_remembered

ARRIVAL = MORNING + timedelta(days=30)
CALL = '{"tool":"measure"}'


def imported(sequence: int, minutes: int, **changes: Any) -> StoredBreadcrumb:
    """Came at its sequence on a later day, and was said so many minutes after the morning began."""
    times = {"created_at": MORNING + timedelta(minutes=minutes), "received_at": ARRIVAL + timedelta(minutes=sequence)}
    return make_remembered(f"Said at {minutes}.", sequence, **{"replay": True, **times, **changes})


def live(sequence: int, **changes: Any) -> StoredBreadcrumb:
    return imported(sequence, sequence, replay=False, **changes)


def order_of(*rows: StoredBreadcrumb) -> list[str]:
    return [row.breadcrumb.id for row in in_order_of_time(rows)]


def test_an_import_of_something_older_stands_before_what_was_imported_first() -> None:
    assert order_of(imported(1, 50), imported(2, 60), imported(3, 10), imported(4, 20)) == ["m3", "m4", "m1", "m2"]


def test_live_messages_stay_where_they_came_whatever_their_clock_says() -> None:
    fast = live(2, created_at=ARRIVAL + timedelta(days=2))
    slow = live(3, created_at=MORNING)
    assert order_of(live(1), fast, slow, imported(4, 10)) == ["m4", "m1", "m2", "m3"]


def test_an_import_from_a_clock_that_is_ahead_was_said_when_it_came() -> None:
    assert order_of(imported(1, 10**6), live(2)) == ["m1", "m2"]


def test_equal_times_keep_the_order_of_their_file() -> None:
    assert order_of(imported(1, 5), imported(2, 5), imported(3, 5)) == ["m1", "m2", "m3"]


def test_an_answer_stands_right_behind_its_question_though_its_clock_ran_behind() -> None:
    rows = imported(1, 10), imported(2, 9, schema="agent.response.v1", answers="m1"), imported(3, 11)
    assert order_of(*rows) == ["m1", "m2", "m3"]


def test_an_answer_is_not_moved_to_the_edit_of_its_question() -> None:
    edit = imported(4, 40, id="m1", version=2)
    rows = imported(1, 10), imported(2, 11, schema="agent.response.v1", answers="m1"), imported(3, 12), edit
    assert order_of(*rows) == ["m1", "m2", "m3", "m1"]


def test_a_result_stands_behind_the_first_call_under_its_id() -> None:
    def call(sequence: int, minutes: int) -> StoredBreadcrumb:
        return imported(sequence, minutes, schema="agent.response.v1", calls=("r1",), call_signatures=(CALL,))

    result = imported(2, 9, schema="tool.response.v1", calls=("r1",))
    assert order_of(call(1, 10), result, call(3, 30)) == ["m1", "m2", "m3"]
    assert order_of(call(1, 30), call(2, 10), replace_place(result, 3, 20)) == ["m2", "m3", "m1"]


def replace_place(row: StoredBreadcrumb, sequence: int, minutes: int) -> StoredBreadcrumb:
    crumb = replace(
        row.breadcrumb, id=f"m{sequence}", place=make_place(sequence), created_at=MORNING + timedelta(minutes=minutes)
    )
    return replace(row, breadcrumb=crumb)


def test_a_version_stands_behind_the_one_before_it_and_ids_that_answer_each_other_do_not_hang() -> None:
    assert order_of(imported(1, 10), imported(2, 5, id="m1", version=2), imported(3, 20)) == ["m1", "m1", "m3"]
    circle = imported(1, 10, answers="m2"), imported(2, 5, answers="m1")
    assert sorted(order_of(*circle)) == ["m1", "m2"]


def test_what_agents_said_before_a_persons_first_words_stands_before_them() -> None:
    opening = replace(imported(3, 90, schema="agent.response.v1"), entry=make_place(4))
    assert order_of(imported(1, 50), opening, imported(4, 10)) == ["m3", "m4", "m1"]


def test_a_history_says_what_continues_it_and_of_which_places_it_has_a_prefix() -> None:
    history = History()
    extend(history, (imported(1, 50), imported(2, 60)))
    assert history.continues_with([imported(3, 60), live(4)])
    assert history.continues_with([imported(2, 60)]), "it has this row"
    assert not history.continues_with([imported(3, 70), imported(4, 65)])
    anew = History()
    extend(anew, tuple(in_order_of_time([imported(1, 50), imported(2, 60), imported(3, 10), live(4)])))
    assert (anew.place, anew.lacks(live(4)), anew.lacks(live(5))) == (make_place(4), False, True)
    assert anew.size_at(FAR, inclusive=False) == 4
    assert anew.size_at(make_place(4), inclusive=False) == 3
    assert anew.size_at(make_place(4), inclusive=True) == 4
    assert anew.size_at(make_place(3), inclusive=False) == -1, "m1 and m2 are behind m3"
