"""How two pages of one trigger differ."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.domain.context import Context
from builder.publish.event import encode
from builder.publish.reports import difference, equal_lines, out_of_order
from tests.factories import make_context, make_profile, make_remembered

ROWS = [f"Glaze {number} needs two coats." for number in range(12)]
TRIGGER = make_remembered("How many coats does glaze 3 need?", 100)


def event(context: Context) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(encode(context))
    return values


def test_ids_numbers_and_no_text_say_what_a_smaller_page_loses() -> None:
    one = make_context(TRIGGER, ROWS)
    other = make_context(TRIGGER, ROWS, make_profile(budget=150))
    found = difference(event(one), "lean", event(other))
    assert [found[name] for name in ("workspace", "session", "trigger", "trigger_seq")] == ["acme", "s42", "m100", 100]
    assert found["page"]["tokens"] == one.tokens
    assert found["only_consumer"]
    assert found["only_shadow"] == []
    assert found["both"] == len({each for section in other.sections for each in section.ids})
    assert not found["is_identical"]
    assert (found["shadow_page"]["tokens"], found["shadow_page"]["budget"]) == (other.tokens, 150)
    assert sum(found["shadow_page"]["omissions"].values()) > 0
    assert not any(row in json.dumps(found) for row in ROWS)


def test_equal_pages_are_identical() -> None:
    one, other = (event(make_context(TRIGGER, ROWS)) for _ in range(2))
    found = difference(one, "same", other)
    assert (found["is_identical"], found["equal_lines"], found["only_consumer"], found["out_of_order"]) == (True, 1, [], ())


def test_a_shadow_without_a_page_says_why() -> None:
    found = difference(event(make_context(TRIGGER, ROWS)), "lean", None, "no room")
    assert (found["shadow_page"], found["rejection"], found["is_identical"], found["both"]) == (None, "no room", False, 0)


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [("a\nb", "a\nb", 1), ("a\nb", "b\na", 1), ("a\na", "a", 2 / 3), ("a", "b", 0), ("", "", 1), ("a\nb\nc\nd", "a\nb", 2 / 3)],
)
def test_equal_lines_are_a_share_of_all_lines_of_both(one: str, other: str, share: float) -> None:
    assert equal_lines(one, other) == pytest.approx(share)


@pytest.mark.parametrize(
    ("one", "other", "names"), [("abcd", "abcd", ""), ("abcd", "bcda", "a"), ("abcd", "dcba", "bcd"), ("", "", "")]
)
def test_the_fewest_that_moved_are_named(one: str, other: str, names: str) -> None:
    assert len(out_of_order(one, other)) == len(names)


@given(st.permutations(range(7)))
def test_without_what_moved_the_rest_stands_in_one_order(order: list[int]) -> None:
    one, other = [str(number) for number in range(7)], [str(number) for number in order]
    away = out_of_order(one, other)
    assert [each for each in one if each not in away] == [each for each in other if each not in away]
