"""The window of a profile that limits its units moves in jumps."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from builder.assemble.budget.limits import window_size
from builder.domain.profile import Window
from tests.examples import examples

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
