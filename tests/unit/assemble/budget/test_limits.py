"""A window of units moves in jumps; what surely cannot fit is known."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from builder.assemble.budget.limits import cannot_fit, limit_conversation, window_size
from builder.domain.page_settings import Window
from tests.conversations import chat
from tests.examples import examples
from tests.factories import make_profile
from tests.pages import make_writer

Limits = tuple[int, int]
limits = st.integers(0, 60).flatmap(lambda most: st.tuples(st.just(most), st.integers(0, most)))


def sizes(most: int, keep: int) -> list[int]:
    window = Window(max_units=most, trim_to=keep, max_tool_turns=None)
    return [window_size(units, window) for units in range(501)]


@examples(40)
@given(limits)
def test_every_window_trims_only_above_its_most_units_and_then_keeps_what_it_should(limit: Limits) -> None:
    most, keep = limit
    found = sizes(most, keep)
    assert found[: most + 1] == list(range(most + 1))
    for before, after in zip(found[most:], found[most + 1 :], strict=False):
        assert after == (keep if before == most else before + 1)


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
    assert not limit_conversation(view, profile, 30_000, (), folded=True).is_part
