"""What is summarised on demand, and which rows keep their words."""

import pytest

from builder.domain.recall import StoredBreadcrumb
from builder.recall.summaries.plan import WaitingUnit, is_from_person, units_to_compact
from tests.conversations import chat, replied, said
from tests.factories import make_view


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


def test_only_words_of_a_person_are_from_a_person() -> None:
    view = make_view([said(1, "Go."), said(2, "  "), replied(3, "I go.")])
    assert [is_from_person(view, row) for row in range(3)] == [True, False, False]
