"""When units are summarised, and which."""

from typing import Any

import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.extras.summaries.chain import WaitingUnit, is_due, units_to_compact, units_until_due, waiting_units
from builder.recall.summaries.recipes import Recipe, recipe_of
from tests.conversations import chat, replied
from tests.factories import make_view
from tests.summarised import summing

PROFILE = summing()
FOUND = recipe_of(PROFILE)
assert FOUND
RECIPE: Recipe = FOUND


@pytest.mark.parametrize(
    ("number", "settings", "due"),
    [
        (6, {}, False),
        (7, {}, True),
        (7, {"keep": 7}, False),
        (7, {"max_pending": None}, False),
        (5, {"max_pending": None, "tokens": 1}, True),
        (4, {"max_pending": None, "tokens": 1}, False),
        (5, {"max_pending": None, "tokens": 10_000}, False),
    ],
)
def test_a_summary_is_due_above_so_many_units_or_tokens_and_never_for_the_newest(
    number: int, settings: dict[str, Any], due: bool
) -> None:
    view, profile = make_view(chat(number)), summing(**settings)
    assert profile.summaries
    assert is_due(view, profile.summaries, waiting_units(view, RECIPE, -1)) is due


@pytest.mark.parametrize(
    ("settings", "number", "until"),
    [({}, 0, 7), ({}, 6, 1), ({}, 9, 1), ({"tokens": 99}, 0, 3), ({"max_pending": None}, 1, 3), ({"max_pending": None}, 3, 1)],
)
def test_it_is_asked_again_when_enough_units_may_have_come(settings: dict[str, Any], number: int, until: int) -> None:
    profile = summing(**settings)
    assert profile.summaries
    assert units_until_due(profile.summaries, number) == until


def units(rows: list[StoredBreadcrumb]) -> tuple[WaitingUnit, ...]:
    return tuple((row, (row,)) for row in range(len(rows)))


@pytest.mark.parametrize(("keep", "number"), [(0, 6), (1, 4), (2, 4), (3, 2), (5, 0), (6, 0), (9, 0)])
def test_at_least_so_many_units_stay_and_they_begin_with_what_a_person_said(keep: int, number: int) -> None:
    rows = chat(6)
    assert len(units_to_compact(make_view(rows), units(rows), keep)) == number


def test_where_only_agents_speak_nothing_is_compacted_unless_all_is() -> None:
    rows = [replied(n, f"Step {n} is done.") for n in range(1, 5)]
    assert units_to_compact(make_view(rows), units(rows), 2) == ()
    assert units_to_compact(make_view(rows), units(rows), 0) == units(rows)
