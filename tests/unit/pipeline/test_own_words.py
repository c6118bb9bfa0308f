"""What the profile says by itself, what stands, and what happens when there is no room."""

from dataclasses import replace
from typing import Any

import pytest

from builder.domain.errors import Rejected
from builder.domain.profile import Profile, Reminder, SectionClass, SectionRule, Source
from builder.domain.selector import Pinned, Selector
from builder.pipeline.pinned import AGENTS, BLACKLIST, kinds, pinned_of, system_prompt
from tests.factories import ids_on_page, make_context, make_profile, make_remembered, make_turn

CHATTER = [make_turn(f"Remark number {n} about the garden.", n) for n in range(1, 6)]
QUESTION = make_remembered("Which bulbs did we buy?", 99)


def section(name: str, source: Source, section_class: SectionClass = "static", priority: int = 0) -> SectionRule:
    return SectionRule(
        name=name,
        title=name.title(),
        source=source,
        section_class=section_class,
        min_share=0,
        max_share=1,
        min_tokens=0,
        weight=0,
        priority=priority,
        dates="none",
    )


def with_sections(*front: SectionRule, back: tuple[SectionRule, ...] = (), **changes: Any) -> Profile:
    return make_profile(**changes, sections=(*front, *make_profile().sections, *back))


def reminder(text: str, every: int = 1, when: Selector | None = None) -> Reminder:
    return Reminder(section="rules", text=text, every=every, when=when)


def test_the_system_prompt_comes_first_word_for_word() -> None:
    prompt = "# You are a gardener\n\n- Never guess."
    context = make_context(QUESTION, CHATTER, with_sections(section("role", "system"), system_prompt=prompt))
    assert context.markdown.startswith(f"## Role\n{prompt}\n")
    assert context.sections[0].ids == ()


def test_the_system_prompt_is_never_trimmed() -> None:
    prompt = "Answer in one sentence. " * 40
    long = [make_turn(f"Remark number {n} about the garden.", n) for n in range(1, 90)]
    context = make_context(QUESTION, long, with_sections(section("role", "system"), system_prompt=prompt.strip(), budget=300))
    assert prompt.strip() in context.markdown
    assert context.tokens <= 300


def test_a_system_prompt_that_leaves_no_room_for_the_message_is_refused() -> None:
    with pytest.raises(Rejected, match="budget"):
        make_context(QUESTION, [], with_sections(section("role", "system"), system_prompt="Always answer. " * 100, budget=100))


def test_a_reminder_may_stand_behind_the_current_message() -> None:
    profile = with_sections(back=(section("rules", "reminder", "turn"),), reminders=(reminder("Answer in JSON."),))
    context = make_context(QUESTION, CHATTER, profile)
    assert context.markdown.endswith("Which bulbs did we buy?\n\n## Rules\nAnswer in JSON.\n")
    assert context.tokens <= profile.budget


@pytest.mark.parametrize(("said", "due"), [(0, False), (2, False), (3, True), (4, True), (6, False)])
def test_every_third_turn_has_its_reminder(said: int, due: bool) -> None:
    profile = with_sections(section("rules", "reminder"), reminders=(reminder("Stay polite.", every=3),))
    before = [make_turn(f"Remark {n}.", n) for n in range(1, said + 1)]
    context = make_context(QUESTION, before, profile)
    assert ("Stay polite." in context.markdown) == due


def test_a_reminder_on_a_condition_is_due_when_the_trigger_meets_it() -> None:
    profile = with_sections(section("rules", "reminder"), reminders=(reminder("Be brief.", when=Selector(any_tags=("phone",))),))
    assert "Be brief." not in make_context(QUESTION, CHATTER, profile).markdown
    assert "Be brief." in make_context(make_remembered("Hello?", 99, tags=("phone",)), CHATTER, profile).markdown


def test_pinned_breadcrumbs_stand_in_their_own_section_and_nowhere_else() -> None:
    pinned = make_remembered("We never work on Sundays.", 2, tags=("pinned",))
    kind = Pinned(selector=Selector(all_tags=("pinned",)), keep="all", section="pinned")
    profile = with_sections(section("pinned", "pinned", "slow"), pinned=(kind,))
    context = make_context(QUESTION, [CHATTER[0], pinned, *CHATTER[2:]], profile, (pinned,))
    assert context.sections[0].ids == ("m2",)
    assert ids_on_page(context).count("m2") == 1


def pinning(max_share: float = 1, **changes: Any) -> Profile:
    kind = Pinned(selector=Selector(all_tags=("pinned",)), keep="all", section="pinned")
    return with_sections(replace(section("pinned", "pinned", "slow"), max_share=max_share), pinned=(kind,), **changes)


def test_what_stands_is_not_shown_once_more_with_the_exchange_that_it_belongs_to() -> None:
    said = make_remembered("I look for bulbs.", 1, schema="agent.response.v1", role="assistant", calls=("r1",), tags=("pinned",))
    result = make_remembered("Which bulbs we bought: tulips.", 2, schema="tool.response.v1", role="tool", calls=("r1",))
    later = [make_turn(f"Remark number {n} about the garden.", n) for n in range(3, 40)]
    context = make_context(QUESTION, [said, result, *later], pinning(), (said,))
    assert "tulips" in context.markdown
    assert ids_on_page(context).count("m1") == 1


def test_a_result_brings_the_pinned_message_that_called_for_it_though_its_section_is_full() -> None:
    said = make_remembered("I look for bulbs.", 1, schema="agent.response.v1", role="assistant", calls=("r1",), tags=("pinned",))
    result = make_remembered("Tulips.", 2, schema="tool.response.v1", role="tool", calls=("r1",))
    context = make_context(QUESTION, [said, result], pinning(max_share=0.001), (said,))
    assert set(ids_on_page(context)) == {"m1", "m2", "m99"}


def test_what_stands_stands_in_place_order() -> None:
    notes = tuple(make_remembered(f"Rule {n}.", n, id=name, tags=("pinned",)) for n, name in enumerate(("z", "b", "a"), 1))
    context = make_context(QUESTION, [], pinning(), tuple(reversed(notes)))
    assert context.sections[0].ids == ("z", "b", "a")


def test_a_strict_profile_gets_no_page_that_something_had_no_room_on() -> None:
    long = [make_turn(f"Remark number {n} about the garden.", n) for n in range(1, 20)]
    with pytest.raises(Rejected, match="have no room in 200 tokens; raise `budget`"):
        make_context(QUESTION, long, make_profile(budget=200, on_overflow="reject"))
    assert make_context(QUESTION, CHATTER, make_profile(on_overflow="reject")).tokens < 4000


@pytest.mark.parametrize(("first", "second", "served"), [(0, 0, "early"), (1, 0, "late"), (0, 1, "early")])
def test_the_section_with_the_lowest_priority_is_served_first(first: int, second: int, served: str) -> None:
    kinds = tuple(Pinned(selector=Selector(all_tags=(name,)), keep="latest", section=name) for name in ("early", "late"))
    sections = (section("early", "pinned", priority=first), section("late", "pinned", priority=second))
    notes = tuple(
        make_remembered("Bulbs need sun. " * 30, 5 + n, tags=(name,), id=name) for n, name in enumerate(("early", "late"))
    )
    context = make_context(QUESTION, [], with_sections(*sections, pinned=kinds, budget=220), notes)
    whole = {held.name: held.tokens for held in context.sections if held.name in ("early", "late")}
    assert max(whole, key=lambda name: whole[name]) == served


def test_spare_tokens_are_shared_as_the_profile_says() -> None:
    kinds = tuple(Pinned(selector=Selector(all_tags=(name,)), keep="all", section=name) for name in ("one", "two"))
    sections = tuple(replace(section(name, "pinned"), weight=weight) for name, weight in (("one", 1), ("two", 3)))
    notes = tuple(
        make_remembered(f"Note {n} on bulbs and the sun.", 5 + n, tags=(name,), id=f"{name}{n}", speaker=name)
        for n in range(40)
        for name in ("one", "two")
    )
    context = make_context(QUESTION, [], with_sections(*sections, pinned=kinds, budget=500), notes)
    spent = {held.name: held.tokens for held in context.sections}
    assert spent["two"] > 2 * spent["one"] > 0


def test_an_agents_definition_brings_the_system_prompt_of_its_consumer() -> None:
    profile = with_sections(section("role", "system"), consumer="gardener")
    mine = make_remembered("You are a gardener.", 5, schema="agent.def.v1", speaker="gardener")
    other = make_remembered("You are a cook.", 6, schema="agent.def.v1", speaker="cook")
    held = dict.fromkeys(kinds((profile,)), ()) | {AGENTS: (other, mine)}
    assert system_prompt(profile, held) == "You are a gardener."
    assert kinds((make_profile(pinned=()),)) == (BLACKLIST,)


def test_a_secret_never_stands() -> None:
    kind = Pinned(selector=Selector(all_tags=("pinned",)), keep="all", section="")
    secret = make_remembered("hunter2", 3, schema="secret.v1", tags=("pinned",))
    assert pinned_of(make_profile(pinned=(kind,)), {kind: (secret,)}) == ((),)
