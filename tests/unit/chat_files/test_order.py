"""The order of a conversation in a file."""

import pytest

from builder.chat_files.order import align_times, in_time_order
from tests.unit.chat_files.test_history import entry, texts


@pytest.mark.parametrize(
    ("times", "order"),
    [
        (("12:00:00", "11:00:00", "10:00:00"), "2 1 0"),
        (("12:00:00", "12:00:00", "10:00:00"), "2 1 0"),
        (("12:00:00", "", "10:00:00"), "2 0 1"),
        (("11:00:00", "12:00:00", "09:00:00", "10:00:00"), "2 3 0 1"),
        (("10:00:05", "10:00:03", "10:01:00"), "0 1 2"),
        (("10:00:00", "10:00:00", ""), "0 1 2"),
        (("", "", ""), "0 1 2"),
    ],
)
def test_times_that_run_back_give_the_order_and_seconds_do_not(times: tuple[str, ...], order: str) -> None:
    entries = [entry(str(number), at=time) for number, time in enumerate(times)]
    assert texts(in_time_order(entries)) == order


def test_a_clock_that_ran_back_puts_no_answer_before_its_question() -> None:
    talk = [entry("cancel", at="10:00:00"), entry("DONE", "assistant", at="00:03:00"), entry("twice?", at="00:04:00")]
    assert texts(in_time_order(talk)) == "cancel DONE twice?"
    halves = [entry("c", at="12:00:00"), entry("D", "assistant", at="12:01:00")]
    assert texts(in_time_order([*halves, entry("a", at="10:00:00"), entry("B", "assistant", at="10:01:00")])) == "a B c D"


def test_a_version_stays_behind_the_one_before() -> None:
    versions = [entry("v1", id="x", at="11:00:00"), entry("v2", id="x", at="09:00:00")]
    assert texts(in_time_order([entry("b", at="12:00:00"), *versions, entry("c", at="10:00:00")])) == "c v1 v2 b"


@pytest.mark.parametrize(
    ("times", "aligned"),
    [
        (("10:00:05", "10:00:03", "10:01:00"), "10:00:05 10:00:05 10:01:00"),
        (("", "10:00:00", "", "10:01:00"), "10:00:00 10:00:00 10:00:00 10:01:00"),
    ],
)
def test_times_run_as_the_order_does(times: tuple[str, ...], aligned: str) -> None:
    entries = [entry(str(number), at=time) for number, time in enumerate(times)]
    align_times(entries)
    assert " ".join(f"{each.time:%H:%M:%S}" for each in entries) == aligned


def test_messages_without_any_time_get_none() -> None:
    entries = [entry("a"), entry("b")]
    align_times(entries)
    assert [each.time for each in entries] == [None, None]
