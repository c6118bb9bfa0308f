"""Selectors match breadcrumbs by every condition that is given."""

from typing import Any

import pytest

from builder.domain.selector import MAX_PINNED, Audience, Pinned, Selector
from tests.factories import make_breadcrumb


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
