"""What a prompt cache may rely on: breakpoints tell the truth, and the hot window moves in jumps."""

from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise

from builder.pipeline.hot import hot_window
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.adapters.tokens import load_counter
from builder.domain.facts import Remembered
from builder.domain.profile import Profile
from tests.factories import make_context, make_history, make_place, make_profile, make_turn, view_of
from tests.property.sessions import Session, catalogs, sessions
from tests.property.test_budget import profiles


@settings(max_examples=80, deadline=None)
@given(sessions(), catalogs(), profiles())
def test_the_tokens_of_a_breakpoint_are_the_true_count_of_the_text_in_front_of_it(
    session: Session, standing: tuple[Remembered, ...], profile: Profile
) -> None:
    context = make_context(session.trigger, session.rows, profile, standing)
    for cut in context.breakpoints:
        front = context.markdown[: cut.characters]
        assert cut.tokens == load_counter(context.encoding)(front)
        assert cut.prefix == blake2b(front.encode(), digest_size=8).hexdigest()
    assert [cut.characters for cut in context.breakpoints] == sorted({cut.characters for cut in context.breakpoints})


lengths = st.lists(st.integers(1, 60), min_size=1, max_size=60)


def wide(budget: int, keep_share: float, least: int) -> Profile:
    """Its window is bounded by tokens only."""
    profile = make_profile(budget=budget)
    return replace(profile, window=replace(profile.window, max_units=500, trim_to=500, keep_share=keep_share, min_recent=least))


def begins(words: list[int], profile: Profile) -> list[int]:
    """Row at which the window begins when each message is the newest."""
    history = make_history([make_turn(" ".join(["kiln"] * count) + f" {n}", n) for n, count in enumerate(words, 1)])
    found = []
    for number in range(1, len(words) + 1):
        view = view_of(history, make_place(number + 1))
        kept = hot_window(view, profile, {}).units
        assert len(kept) >= min(profile.window.min_recent, view.units)
        rows = [unit[0].row for unit in kept]
        assert rows == list(range(number - 1, number - 1 - len(kept), -1))
        found.append(kept[-1][0].row if kept else number)
    return found


@settings(max_examples=60, deadline=None)
@given(lengths, st.integers(200, 2000), st.sampled_from((0.25, 0.5, 0.75, 1)), st.integers(0, 6))
def test_the_window_never_goes_back_nor_keeps_fewer_than_the_newest(
    words: list[int], budget: int, keep_share: float, least: int
) -> None:
    first = begins(words, wide(budget, keep_share, least))
    assert first == sorted(first)


@settings(max_examples=60, deadline=None)
@given(st.integers(5, 30), st.integers(400, 2000))
def test_a_window_of_tokens_begins_with_the_same_unit_between_two_jumps(words: int, budget: int) -> None:
    first = begins([words] * 60, wide(budget, 0.5, 1))
    jumps = sum(before != after for before, after in pairwise(first))
    room = 0.45 * budget
    assert jumps <= 60 * 2 * (words + 10) / (room / 2) + 1
