"""The limits of one rendering: steps of loops, characters that are handled, processor time.

Steps and characters are counted, so the same input meets the same limit on every machine; the time is the last resort.
"""

import sys
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import thread_time
from typing import Any

from jinja2 import TemplateRuntimeError, Undefined

from builder.adapters.templates.sandbox.missing import Missing

CLOCK_STEPS = 32
"""Steps between two looks at the clock."""
CLOCK_CHARS = 20_000
"""More characters at once cause a look at the clock."""


class LimitExceeded(TemplateRuntimeError):  # noqa: N818 - named after what happened
    """A template needs more steps, characters or time than a rendering may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a rendering; some grow with the characters of its values."""

    steps: int = 20_000
    steps_each: float = 0.05
    """Further steps for each character of the values."""
    characters: int = 1_000_000
    characters_each: int = 24
    """Further characters for each character of the values."""
    seconds: float = 0.5
    """Of processor time."""


class Meter:
    """The account of one rendering."""

    __slots__ = ("_characters", "_ends", "_limits", "_looks", "_steps")

    def __init__(self, limits: Limits, value_chars: int) -> None:
        """value_chars: characters of the values."""
        self._limits = limits
        self._steps = limits.steps + int(limits.steps_each * value_chars)
        self._characters = limits.characters + limits.characters_each * value_chars
        self._looks = CLOCK_STEPS
        self._ends = thread_time() + limits.seconds

    @property
    def remaining(self) -> int:
        """Characters that may still be handled."""
        return self._characters

    def step(self, characters: int) -> None:
        """Enter a block that has so many characters of its own. Raises `LimitExceeded`."""
        self._steps -= 1
        if self._steps < 0:
            raise LimitExceeded("it takes more steps (loops and blocks) than a rendering may; let it loop over less")
        self._looks -= 1
        self.charge(characters)

    def charge(self, characters: int) -> None:
        """Charge for characters that are read, made or compared. Raises `LimitExceeded`."""
        self._characters -= characters
        if self._characters < 0:
            raise LimitExceeded("it makes more text than a rendering may; let it repeat, pad or join less")
        if self._looks <= 0 or characters > CLOCK_CHARS:
            self._looks = CLOCK_STEPS
            self.spend(0)

    def spend(self, seconds: float) -> None:
        """Count processor time of another process. Raises `LimitExceeded`."""
        self._ends -= seconds
        if thread_time() > self._ends:
            raise LimitExceeded(f"it takes longer than {self._limits.seconds:g} s; let it do less")


_METER: ContextVar[Meter] = ContextVar("meter")


@contextmanager
def metered(limits: Limits, value_chars: int) -> Iterator[None]:
    """Within it `step` and `charge` count for one rendering. value_chars: characters of the values."""
    token = _METER.set(Meter(limits, value_chars))
    try:
        yield
    finally:
        _METER.reset(token)


def step(characters: int = 0) -> None:
    """See `Meter.step`."""
    _METER.get().step(characters)


def charge(characters: int) -> None:
    """See `Meter.charge`."""
    _METER.get().charge(characters)


def spend(seconds: float) -> None:
    """See `Meter.spend`."""
    _METER.get().spend(seconds)


def charge_for(*values: Any) -> None:
    """Charge for all that these values hold; a value that they hold twice counts twice."""
    meter = _METER.get()
    for value in values:
        meter.charge(len(value) + 1 if isinstance(value, str) else size(value, meter.remaining))


def size(value: Any, most: int = sys.maxsize) -> int:
    """Characters of the value and of all it holds, one more for each; counting ends above `most`.

    Raises `TemplateRuntimeError` for what is no data: the loop, a method, a name without a value.
    """
    total, waiting = 0, [value]
    while waiting and total <= most:
        item = waiting.pop()
        total += 1
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, dict):
            waiting += item
            waiting += item.values()
        elif isinstance(item, list | tuple | AbstractSet | KeysView | ValuesView | ItemsView):
            waiting += item
        elif isinstance(item, int):
            total += item.bit_length() // 3
        elif not isinstance(item, float | None | Missing):
            raise _no_data(item)
    return total + len(waiting)


def _no_data(value: Any) -> Exception:
    if isinstance(value, Undefined):
        str(value)  # raises why it is undefined
    return TemplateRuntimeError(
        "a value that is no text, number, list or object cannot be used; call a method, or name a field of the loop"
    )
