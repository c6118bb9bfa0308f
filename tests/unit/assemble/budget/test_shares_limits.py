"""Limits by number: a window of units moves in jumps, and what surely cannot fit is known by its stored counts."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from builder.assemble.budget.shares import cannot_fit, limit_conversation, window_size
from builder.domain.page_settings import Window
from tests.conversations import chat
from tests.examples import examples
from tests.factories import make_profile
from tests.pages import make_writer

Limits = tuple[int, int]
limits = st.integers(0, 60).flatmap(lambda most: st.tuples(st.just(most), st.integers(0, most)))


def sizes(most: int, keep: int) -> list[int]:
    window = Window(max_units=most, trim_to=keep, min_share=0.14, max_tool_turns=None, whole_up_to="target")
    return [window_size(units, window) for units in range(501)]


def test_a_window_of_twenty_that_keeps_ten_jumps_from_twenty_to_ten() -> None:
    found = sizes(20, 10)
    assert found[:43] == [*range(21), *range(10, 21), *range(10, 21)]
    assert found[21:] == [10 + (n - 21) % 11 for n in range(21, 501)]


@examples(40)
@given(limits)
def test_every_window_trims_only_above_its_most_units_and_then_keeps_what_it_should(limit: Limits) -> None:
    most, keep = limit
    found = sizes(most, keep)
    assert found[: most + 1] == list(range(most + 1))
    for before, after in zip(found[most:], found[most + 1 :], strict=False):
        assert after == (keep if before == most else before + 1)


@examples(40)
@given(limits)
def test_between_two_jumps_the_window_begins_with_the_same_unit(limit: Limits) -> None:
    most, keep = limit
    begins = [units - size for units, size in enumerate(sizes(most, keep))]
    assert begins == sorted(begins)
    jumps = sum(before != after for before, after in pairwise(begins))
    assert jumps <= 500 // (most - keep + 1) + 1


def test_a_conversation_of_many_times_the_room_surely_cannot_fit_and_a_short_one_may() -> None:
    view, profile = make_writer(chat(100)).view, make_profile()
    assert cannot_fit(view, profile, 300)
    assert not cannot_fit(view, profile, 3000)
    limited = replace(profile, window=replace(profile.window, max_units=3, trim_to=3))
    assert not cannot_fit(view, limited, 300), "a limit may leave little of it"


def test_a_conversation_is_walked_back_only_as_far_as_it_may_be_shown() -> None:
    view, profile = make_writer(chat(400)).view, make_profile()
    limits = limit_conversation(view, profile, 300, (), folded=True)
    assert limits.is_part
    assert [entry.row for entry in limits.entries] == list(range(399, 399 - len(limits.entries), -1))
    assert len(limits.entries) < 60
