"""A rendering has so many steps and characters, and more of them for larger values."""

from typing import Any

import pytest

from builder.adapters.templates.sandbox.runtime import LimitExceeded, Limits, charge, charge_for, metered, size, step

LIMITS = Limits(steps=3, steps_each=1, characters=10, characters_each=2)


def test_steps_are_counted() -> None:
    with metered(LIMITS, 0):
        for _ in range(3):
            step()
        with pytest.raises(LimitExceeded, match="more steps"):
            step()


def test_characters_are_counted_with_what_values_hold() -> None:
    with metered(LIMITS, 0):
        charge_for(["abc", "de"])
        with pytest.raises(LimitExceeded, match="more text"):
            charge(3)


def test_larger_values_have_larger_limits() -> None:
    with metered(LIMITS, 2):
        for _ in range(5):
            step()
        charge(14)


def test_two_renderings_are_counted_apart() -> None:
    for _ in range(2):
        with metered(LIMITS, 0):
            charge(10)


@pytest.mark.parametrize(
    ("value", "characters"), [("abc", 4), (["a", "b"], 5), ({"a": "bc"}, 6), (7, 2), (2**30, 11), (None, 1), ([[]], 2)]
)
def test_the_size_of_a_value_is_what_it_holds_and_one_for_each(value: Any, characters: int) -> None:
    assert size(value) == characters


def test_counting_ends_above_its_limit() -> None:
    assert 10 < size(["x" * 5] * 100_000, 10) < 100_100
