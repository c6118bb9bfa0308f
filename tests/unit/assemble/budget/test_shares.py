"""A page aims at its target and may have its budget; a window of units moves in jumps; what surely cannot fit is known."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.profiles.profiles import Library, ModelFacts, parse_profile
from builder.assemble.budget.shares import cannot_fit, limit_conversation, window_size
from builder.domain.context import Context
from builder.domain.errors import Misconfigured
from builder.domain.page_settings import Window
from builder.domain.profile import Profile
from tests.conversations import chat, ids_of, said
from tests.examples import examples
from tests.factories import make_context, make_profile
from tests.pages import make_writer

LIBRARY = Library(models={"large": ModelFacts(window=128_000)})
LEAST = "retrieval: {schemas: []}\nsections: [{name: current, title: Now, source: trigger}]\n"


def page(profile: Profile, messages: int, trigger: str = "And now?") -> Context:
    return make_context(said(800, trigger), chat(messages), profile)


def test_a_long_conversation_is_trimmed_to_the_target_and_not_to_the_budget() -> None:
    wide = make_profile(budget=20_000)
    assert page(wide, 300).tokens > 4000
    assert page(replace(wide, target=1000), 300).tokens <= 1000


def test_it_is_whole_up_to_the_budget_when_the_profile_says_so() -> None:
    profile = make_profile(budget=20_000, target=1000, window={"whole_up_to": "budget"})
    context = page(profile, 300)
    assert ids_of(context, "conversation") == [f"m{n}" for n in range(1, 301)]
    assert 1000 < context.tokens <= 20_000
    assert page(replace(profile, budget=2000), 300).tokens <= 1000


def test_a_current_message_above_the_target_stands_whole_within_the_budget() -> None:
    letter = " ".join(f"Sentence {n} of a long letter." for n in range(300))
    context = page(make_profile(budget=20_000, target=1000), 100, letter)
    assert letter in context.markdown
    assert context.tokens <= 20_000
    assert ids_of(context, "conversation")


def test_the_target_follows_from_the_model_but_a_budget_that_is_written_is_meant() -> None:
    def target(text: str) -> int | None:
        return parse_profile("mine", text + LEAST, LIBRARY).target

    assert target("model: large\n") == 4000
    assert target("model: large\nbudget: 90000\n") is None
    assert target("") is None
    assert target("model: large\ntarget: 9000\n") == 9000


def test_a_target_above_the_budget_is_refused() -> None:
    with pytest.raises(Misconfigured, match="target is 5000 but budget is 4000; lower target"):
        parse_profile("mine", f"budget: 4000\ntarget: 5000\n{LEAST}")


Limits = tuple[int, int]
limits = st.integers(0, 60).flatmap(lambda most: st.tuples(st.just(most), st.integers(0, most)))


def sizes(most: int, keep: int) -> list[int]:
    window = Window(max_units=most, trim_to=keep, min_share=0.14, max_tool_turns=None, whole_up_to="target")
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
