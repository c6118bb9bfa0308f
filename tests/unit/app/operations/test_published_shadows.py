"""How two pages of one trigger differ."""

import json
from typing import Any

import pytest

from builder.app.operations.published import difference, equal_lines
from builder.domain.context import Context
from builder.publish.event import encode
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
    assert [found[name] for name in ("session", "trigger", "tokens", "shadow_tokens")] == [
        "s42",
        "m100",
        one.tokens,
        other.tokens,
    ]
    assert (bool(found["lost"]), found["gained"]) == (True, [])
    assert not found["is_identical"]
    assert not any(row in json.dumps(found) for row in ROWS)


def test_equal_pages_are_identical() -> None:
    one, other = (event(make_context(TRIGGER, ROWS)) for _ in range(2))
    found = difference(one, "same", other)
    assert (found["is_identical"], found["equal_lines"], found["lost"], found["gained"]) == (True, 1, [], [])


def test_a_shadow_without_a_page_says_why() -> None:
    found = difference(event(make_context(TRIGGER, ROWS)), "lean", None, "no room")
    assert (found["shadow_tokens"], found["rejection"], found["is_identical"], found["lost"]) == (None, "no room", False, [])


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [("a\nb", "a\nb", 1), ("a\nb", "b\na", 1), ("a\na", "a", 2 / 3), ("a", "b", 0), ("", "", 1), ("a\nb\nc\nd", "a\nb", 2 / 3)],
)
def test_equal_lines_are_a_share_of_all_lines_of_both(one: str, other: str, share: float) -> None:
    assert equal_lines(one, other) == pytest.approx(share)
