"""Forms and the reason of each line, hints that a breadcrumb may have, the table of sources and where each stands."""

from dataclasses import replace
from typing import Any, Literal, get_args

import pytest

from builder.app.config import bundled_folder
from builder.assemble.items.forms import FOLD_REASON, LINE_REASONS, Line, RenderForm
from builder.assemble.items.hint_choice import NO_CHOICE, HintChoice, hint_choice
from builder.assemble.items.pending import FragmentPending, each
from builder.assemble.items.section_sources import SOURCES
from builder.domain.page_settings import SectionClass
from builder.domain.selector import TrustedHints
from tests.conversations import answered, bash, replied
from tests.factories import make_breadcrumb, make_profile
from tests.pages import make_writer


def test_every_line_has_a_reason_of_its_own_and_what_is_more_than_a_line_has_none() -> None:
    assert LINE_REASONS.keys() == set(get_args(Line))
    assert len(set(LINE_REASONS.values())) == len(LINE_REASONS)
    assert LINE_REASONS[""] == ""
    assert LINE_REASONS["folded"] == FOLD_REASON


def test_a_result_in_the_form_of_a_line_is_one_line_with_its_reason() -> None:
    writer = make_writer([replied(1, "I look.", bash("r1", "ls")), answered(2, "r1", "a\nb\nc")])
    for line, reason in LINE_REASONS.items():
        fragment = writer.fragment(writer.view.breadcrumb(1), RenderForm(answer=True, line=line))
        assert fragment.reduced == reason
        assert ("\n" in fragment.text.strip()) == (not line)


HINTS = '{"include":["title"]}'


def trusting(sessions: Literal["none", "any"] = "any", **fields: Any) -> Any:
    return make_profile(trusted_hints=TrustedHints(schemas=(), sessions=sessions, creators=()), **fields)


def test_hints_of_a_record_are_data_until_a_profile_trusts_them() -> None:
    ticket = make_breadcrumb(schema="ticket.v1", hints=HINTS)
    assert hint_choice(ticket, make_profile(), {"ticket.v1": HINTS}) == NO_CHOICE
    assert hint_choice(ticket, trusting("none"), {}) == NO_CHOICE
    assert hint_choice(ticket, trusting(), {}) == HintChoice(record=HINTS)


def test_the_consumers_own_template_is_chosen_by_schema() -> None:
    profile = make_profile(hints={"ticket.v1": "short-ticket", "tool.request.v1": "short-call"})
    assert hint_choice(make_breadcrumb(schema="ticket.v1"), profile, {}) == HintChoice(own="short-ticket", call="short-call")


def test_the_definition_of_the_schema_is_passed_on() -> None:
    choice = hint_choice(make_breadcrumb(schema="ticket.v1"), trusting(), {"ticket.v1": HINTS, "order.v1": "{}"})
    assert choice == HintChoice(definition=HINTS)


def test_every_section_of_the_bundled_profiles_has_a_source() -> None:
    profiles = [path.stem for path in (bundled_folder("templates") / "profiles").glob("*.yaml")]
    assert "default" in profiles
    names = {rule.source for profile in profiles for rule in make_profile(profile).sections}
    assert names <= SOURCES.keys()


def test_each_source_has_its_own_name_and_turns_are_dated_and_what_changes_every_turn_is_never_the_systems() -> None:
    for name, source in SOURCES.items():
        assert source.name == name
        assert source.is_dated or not source.is_dialogue
        assert not (source.changes_every_turn and source.is_lasting)


@pytest.mark.parametrize(
    ("source", "section_class", "is_in_system"),
    [
        ("pinned", "static", True),
        ("pinned", "turn", False),
        ("instructions", "slow", True),
        ("summary", "slow", True),
        ("system", "turn", True),
        ("window", "slow", False),
    ],
)
def test_what_lasts_is_in_the_system_message(source: str, section_class: SectionClass, is_in_system: bool) -> None:
    rule = replace(make_profile().sections[0], source=source, section_class=section_class)
    assert SOURCES[source].is_in_system(rule) is is_in_system


def test_all_that_wait_for_a_fragment_are_told_at_once() -> None:
    def waiting(name: str) -> int:
        raise FragmentPending({name: lambda: name})

    assert each((lambda: 1, lambda: 2)) == (1, 2)
    with pytest.raises(FragmentPending) as pending:
        each((lambda: 1, lambda: waiting("a"), lambda: waiting("b")))
    assert [*pending.value.works] == ["a", "b"]
