"""The hot window moves in jumps."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from builder.domain.profile import Window
from builder.pipeline.units import window_size
from tests.factories import make_profile

windows = st.integers(0, 60).flatmap(
    lambda trigger: st.builds(
        Window,
        max_units=st.just(trigger),
        trim_to=st.integers(0, trigger),
        min_recent=st.just(3),
        max_tool_turns=st.none(),
        message_share=st.just(0.25),
        keep_share=st.just(0.5),
    )
)


def test_the_default_window_jumps_from_twenty_to_ten() -> None:
    window = make_profile().window
    sizes = [window_size(units, window) for units in range(501)]
    assert sizes[:43] == [*range(21), *range(10, 21), *range(10, 21)]
    assert sizes[21:] == [10 + (n - 21) % 11 for n in range(21, 501)]


@settings(max_examples=200, deadline=None)
@given(windows)
def test_every_window_trims_only_above_its_most_units_and_then_keeps_what_it_should(window: Window) -> None:
    sizes = [window_size(units, window) for units in range(501)]
    assert sizes[: window.max_units + 1] == list(range(window.max_units + 1))
    for before, after in zip(sizes[window.max_units :], sizes[window.max_units + 1 :], strict=False):
        assert after == (window.trim_to if before == window.max_units else before + 1)


@settings(max_examples=200, deadline=None)
@given(windows)
def test_between_two_jumps_the_window_begins_with_the_same_unit(window: Window) -> None:
    begins = [units - window_size(units, window) for units in range(501)]
    assert begins == sorted(begins)
    jumps = sum(before != after for before, after in pairwise(begins))
    assert jumps <= 500 // (window.max_units - window.trim_to + 1) + 1
