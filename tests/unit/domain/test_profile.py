"""What a profile allows, and what triggers it."""

import pytest

from builder.domain.breadcrumb import Role
from builder.domain.selector import Selector
from tests.factories import make_breadcrumb, make_profile


def test_a_page_may_have_the_budget_without_margin_and_reserve() -> None:
    profile = make_profile(budget=1000, margin=0.1, reserve=50)
    assert profile.allowance == 850


def test_a_section_has_its_share_of_the_page() -> None:
    rule = next(rule for rule in make_profile("default").sections if rule.max_share < 1)
    assert rule.max_tokens(10_000) == int(rule.max_share * 10_000)


def test_the_failure_of_a_tool_triggers_where_its_answer_does() -> None:
    profile = make_profile(triggers=("tool.response.v1",))
    assert profile.waits_for_tools
    assert profile.is_triggered_by(make_breadcrumb(schema="tool.error.v1"))
    assert not profile.is_triggered_by(make_breadcrumb())


def test_a_breadcrumb_outside_the_audience_triggers_nothing() -> None:
    profile = make_profile(audience=Selector(any_tags=("support",)))
    assert profile.is_triggered_by(make_breadcrumb(tags=("support",)))
    assert not profile.is_triggered_by(make_breadcrumb())


def test_the_section_of_a_source_is_the_first_one() -> None:
    profile = make_profile()
    assert profile.section("trigger") == profile.sections[-1]
    assert make_profile(sections=()).section("trigger") is None


@pytest.mark.parametrize(
    ("role", "agent", "to", "triggers"),
    [
        ("user", "", ("critic",), True),
        ("user", "", ("planner", "critic"), True),
        ("user", "", ("planner",), False),
        ("assistant", "planner", (), True),
        ("assistant", "critic", (), False),
        ("assistant", "critic", ("critic",), True),
        ("assistant", "critic", ("planner",), False),
    ],
)
def test_what_is_addressed_triggers_its_agents_alone_and_no_agent_s_answer_triggers_itself(
    role: Role, agent: str, to: tuple[str, ...], triggers: bool
) -> None:
    profile = make_profile(agent="critic", triggers=(Selector(),))
    assert profile.is_triggered_by(make_breadcrumb(role=role, agent=agent, to=to)) is triggers
