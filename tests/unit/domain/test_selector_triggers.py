"""Which breadcrumbs ask for a context."""

from typing import Any

import pytest

from builder.domain.selector import Selector, matches_one, schemas_of, trigger_on, trigger_text, wait_for_tools
from tests.factories import make_breadcrumb, make_profile


@pytest.mark.parametrize(
    ("selector", "breadcrumb", "asks"),
    [
        (Selector(schemas=("tool.error.v1",), any_tags=("a", "b")), {"schema": "tool.error.v1", "tags": ("b",)}, True),
        (Selector(schemas=("tool.error.v1",), any_tags=("a", "b")), {"schema": "tool.error.v1"}, False),
        (Selector(all_tags=("a", "b")), {"tags": ("b", "a")}, True),
        (Selector(all_tags=("a", "b"), none_tags=("c",)), {"tags": ("a", "b", "c")}, False),
        (Selector(schemas=("note.v1",)), {}, False),
        (Selector(ids=("m1",)), {}, True),
    ],
)
def test_every_condition_that_a_trigger_gives_must_hold(selector: Selector, breadcrumb: dict[str, Any], asks: bool) -> None:
    assert matches_one((trigger_on("page.v1"), selector), make_breadcrumb(**breadcrumb)) is asks


def test_the_failure_of_a_tool_matches_where_its_answer_does_with_the_same_tags() -> None:
    answer = Selector(schemas=("tool.response.v1",), any_tags=("chat",))
    assert matches_one((answer,), make_breadcrumb(schema="tool.error.v1", tags=("chat",)))
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
