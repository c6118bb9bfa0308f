"""Selectors match breadcrumbs by every condition that is given: what is shown, what asks for a context, whose hints run."""

from typing import Any

import pytest

from builder.domain.selector import (
    MAX_PINNED,
    Audience,
    Pinned,
    Selector,
    TrustedHints,
    matches_one,
    schemas_of,
    trigger_on,
    trigger_text,
    wait_for_tools,
)
from tests.factories import make_breadcrumb, make_profile


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        ({}, True),
        ({"schemas": ("note.v1", "user.message.v1")}, True),
        ({"schemas": ("note.v1",)}, False),
        ({"ids": ("m1",)}, True),
        ({"ids": ("m2",)}, False),
        ({"any_tags": ("red", "blue")}, True),
        ({"any_tags": ("blue",)}, False),
        ({"all_tags": ("red", "hot")}, True),
        ({"all_tags": ("red", "blue")}, False),
        ({"none_tags": ("blue",)}, True),
        ({"none_tags": ("hot",)}, False),
        ({"ids": ("m1",), "any_tags": ("blue",)}, False),
    ],
)
def test_a_breadcrumb_matches_when_every_condition_holds(conditions: dict[str, Any], matches: bool) -> None:
    assert Selector(**conditions).matches(make_breadcrumb(id="m1", tags=("red", "hot"))) is matches


@pytest.mark.parametrize(("keep", "limit"), [("latest", 1), ("all", MAX_PINNED), (7, 7)])
def test_of_a_pinned_kind_so_many_are_recalled_as_are_kept(keep: Any, limit: int) -> None:
    assert Pinned(selector=Selector(), keep=keep, section="").limit == limit


@pytest.mark.parametrize(
    ("agent", "to", "matches"),
    [
        ("", (), True),
        ("", ("critic",), True),
        ("", ("planner",), False),
        ("critic", (), True),
        ("critic", ("planner",), True),
        ("planner", (), False),
        ("planner", ("critic", "coder"), True),
        ("planner", ("coder",), False),
    ],
)
def test_an_agent_hears_what_it_says_and_is_told_and_what_no_other_agent_says_to_everybody(
    agent: str, to: tuple[str, ...], matches: bool
) -> None:
    assert Audience(agents=("critic",)).matches(make_breadcrumb(agent=agent, to=to)) is matches


def test_the_failure_of_a_tool_matches_where_its_answer_does_with_the_same_tags() -> None:
    answer = Selector(schemas=("tool.response.v1",), any_tags=("chat",))
    assert matches_one((trigger_on("page.v1"), answer), make_breadcrumb(schema="tool.error.v1", tags=("chat",)))
    assert not matches_one((answer,), make_breadcrumb(schema="tool.error.v1"))
    assert not matches_one((trigger_on("tool.error.v1"),), make_breadcrumb(schema="tool.response.v1"))


def test_triggers_wait_for_tools_when_an_answer_may_match_one_of_them() -> None:
    assert wait_for_tools((Selector(any_tags=("chat",)),))
    assert wait_for_tools((trigger_on("user.message.v1"), Selector(schemas=("tool.error.v1",), any_tags=("chat",))))
    assert not wait_for_tools((trigger_on("user.message.v1"),))


def test_what_no_profile_can_show_asks_for_nothing_whatever_its_tags_are() -> None:
    profile = make_profile(triggers=(Selector(any_tags=("chat",)),))
    assert profile.is_triggered_by(make_breadcrumb(tags=("chat",)))
    assert not profile.is_triggered_by(make_breadcrumb(schema="context.blacklist.v1", tags=("chat",)))


def test_a_trigger_is_read_by_people_as_its_schemas_and_its_conditions() -> None:
    triggers = (trigger_on("user.message.v1"), Selector(schemas=("tool.error.v1",), any_tags=("a", "b"), none_tags=("c",)))
    assert list(map(trigger_text, triggers)) == ["user.message.v1", "tool.error.v1 any_tags=a,b none_tags=c"]
    assert schemas_of(triggers) == ("user.message.v1", "tool.error.v1")


def trusted(**conditions: Any) -> TrustedHints:
    fields: dict[str, Any] = {"schemas": (), "sessions": "none", "creators": ()}
    return TrustedHints(**(fields | conditions))


TICKET = make_breadcrumb(schema="ticket.v1", session="s42", creator="shop-7")
OF_NO_SESSION = make_breadcrumb(schema="ticket.v1", session="_")


@pytest.mark.parametrize(
    ("conditions", "of_session", "of_none"),
    [
        ({}, False, True),
        ({"sessions": "any"}, True, True),
        ({"sessions": "any", "schemas": ("ticket.v1",)}, True, True),
        ({"sessions": "any", "schemas": ("order.v1",)}, False, False),
        ({"sessions": "any", "creators": ("shop-7",)}, True, False),
        ({"creators": ("shop-7",)}, False, False),
    ],
)
def test_hints_run_where_every_condition_holds(conditions: dict[str, Any], of_session: bool, of_none: bool) -> None:
    own = trusted(**conditions)
    assert (own.trusts(TICKET), own.trusts(OF_NO_SESSION)) == (of_session, of_none)


def test_definitions_are_read_where_their_schema_is_trusted() -> None:
    cases = ((), ("schema.def.v1",), ("ticket.v1",))
    assert [trusted(schemas=schemas).covers_schema_definitions for schemas in cases] == [True, True, False]
