"""A rendering has so many steps and characters, and more of them for larger values."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from builder.adapters.templates.sandbox.runtime import (
    CLOCK_CHARS,
    CLOCK_STEPS,
    LimitExceeded,
    Limits,
    charge,
    charge_for,
    metered,
    size,
    spend,
    step,
)

LIMITS = Limits(steps=3, steps_each=1, characters=10, characters_each=2, seconds=math.inf)


class Clock:
    """Shows what a test says."""

    def __init__(self) -> None:
        self.seconds = 7.0

    def __call__(self) -> float:
        return self.seconds


def steps(number: int) -> None:
    for _ in range(number):
        step()


def test_steps_are_counted() -> None:
    with metered(LIMITS, 0):
        steps(3)
        with pytest.raises(LimitExceeded, match="more steps"):
            step()


def test_characters_are_counted_with_what_values_hold() -> None:
    with metered(LIMITS, 0):
        charge_for(["abc", "de"])
        with pytest.raises(LimitExceeded, match="more text"):
            charge(3)


def test_larger_values_have_larger_limits() -> None:
    with metered(LIMITS, 2):
        steps(5)
        charge(14)


def test_two_renderings_are_counted_apart() -> None:
    for _ in range(2):
        with metered(LIMITS, 0):
            charge(10)


def test_its_time_is_looked_at_between_steps_and_before_much_text() -> None:
    clock = Clock()
    limits = Limits(seconds=0.5, clock=clock)
    works: tuple[tuple[Callable[[int], None], int], ...] = ((charge, CLOCK_CHARS + 1), (steps, CLOCK_STEPS))
    for work, much in works:
        with metered(limits, 0):
            clock.seconds += 0.5
            work(much)
            clock.seconds += 0.01
            with pytest.raises(LimitExceeded, match=r"it takes longer than 0\.5 s"):
                work(much)


def test_the_time_of_other_processes_adds_up_with_its_own() -> None:
    clock = Clock()
    with metered(Limits(seconds=1, clock=clock), 0):
        spend(0.5)
        spend(0.25)
        clock.seconds += 0.25
        spend(0)
        with pytest.raises(LimitExceeded, match="it takes longer than 1 s"):
            spend(0.25)


@pytest.mark.parametrize(
    ("value", "characters"), [("abc", 4), (["a", "b"], 5), ({"a": "bc"}, 6), (7, 2), (2**30, 11), (None, 1), ([[]], 2)]
)
def test_the_size_of_a_value_is_what_it_holds_and_one_for_each(value: Any, characters: int) -> None:
    assert size(value) == characters


def test_counting_ends_above_its_limit() -> None:
    assert 10 < size(["x" * 5] * 100_000, 10) < 100_100
