"""A page aims at its target and may have its budget."""

from dataclasses import replace

import pytest

from builder.adapters.profiles.profiles import Library, ModelFacts, parse_profile
from builder.domain.context import Context
from builder.domain.errors import Misconfigured
from builder.domain.profile import Profile
from tests.conversations import chat, ids_of, said
from tests.factories import make_context, make_profile

ASK = said(800, "And now?")
LIBRARY = Library(models={"large": ModelFacts(window=128_000)})
LEAST = "retrieval: {schemas: []}\nsections: [{name: current, title: Now, source: trigger}]\n"


def page(profile: Profile, messages: int, trigger: str = "And now?") -> Context:
    return make_context(said(800, trigger), chat(messages), profile)


def test_a_long_conversation_is_trimmed_to_the_target_and_not_to_the_budget() -> None:
    wide = make_profile(budget=20_000)
    assert page(wide, 300).tokens > 4000
    assert page(replace(wide, target=1000), 300).tokens <= 1000


def test_a_conversation_that_fits_the_target_is_whole() -> None:
    shown = ids_of(page(make_profile(budget=20_000, target=2000), 60), "recent")
    assert shown == [f"m{n}" for n in range(1, 61)]


def test_it_is_whole_up_to_the_budget_when_the_profile_says_so() -> None:
    profile = make_profile(budget=20_000, target=1000, window={"whole_up_to": "budget"})
    context = page(profile, 300)
    assert ids_of(context, "recent") == [f"m{n}" for n in range(1, 301)]
    assert 1000 < context.tokens <= 20_000
    assert page(replace(profile, budget=2000), 300).tokens <= 1000


def test_a_current_message_above_the_target_stands_whole_within_the_budget() -> None:
    letter = " ".join(f"Sentence {n} of a long letter." for n in range(300))
    context = page(make_profile(budget=20_000, target=1000), 100, letter)
    assert letter in context.markdown
    assert context.tokens <= 20_000
    assert ids_of(context, "recent")


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
