"""How many examples a property test looks at: a fifth of them in each run, all of them with `HYPOTHESIS_PROFILE=full`."""

import os
from typing import Any

from hypothesis import settings

CI, FULL = "ci", "full"
SHARES = {CI: 0.2, FULL: 1.0}
"""Of the examples that a test names."""
USUAL = 100
"""Examples of a test that names no number."""


def load_profile() -> None:
    """`ci` gives every run the same examples; `full` looks for new counterexamples, and prints how to see one again."""
    settings.register_profile(CI, derandomize=True, deadline=None, database=None, max_examples=_number(USUAL, CI))
    settings.register_profile(FULL, deadline=None, print_blob=True, max_examples=_number(USUAL, FULL))
    settings.load_profile(_name())


def examples(number: int, **changes: Any) -> settings:
    """The settings of a test with so many examples in all. changes: of the profile's other settings."""
    return settings(max_examples=_number(number, _name()), **changes)


def is_full() -> bool:
    """Whether all examples are wanted; otherwise a fixed corpus gives a sample."""
    return _name() == FULL


def _name() -> str:
    return os.environ.get("HYPOTHESIS_PROFILE", CI)


def _number(number: int, profile: str) -> int:
    return max(1, round(SHARES[profile] * number))
