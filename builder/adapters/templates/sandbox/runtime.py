"""The meter of a rendering, and the values of a body.

Steps and characters are counted, so limits are the same on every machine. A missing field is empty and false; another undefined
name is an error.
"""

import sys
from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from operator import attrgetter
from time import thread_time
from typing import Any

from jinja2 import ChainableUndefined, StrictUndefined, TemplateRuntimeError, Undefined, UndefinedError
from jinja2.utils import missing

_KEYS = attrgetter("_keys")
PLAIN = (int, float, type(None))
"""Without fields."""


class Fields(dict[str, Any]):
    """An object of a body; fields that are null are missing."""

    __slots__ = ("_keys",)

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__({key: marked(item) for key, item in value.items() if item is not None})
        self._keys = tuple(value)


class Items(list[Any]):
    """A list of a body."""

    __slots__ = ()


class Words(str):
    """A text of a body."""

    __slots__ = ()


class Missing(ChainableUndefined):
    """Empty text, zero, empty list; so are its fields."""

    __slots__ = ()

    def __call__(self, *_: Any, **__: Any) -> "Missing":  # type: ignore[override]
        """Missing too."""
        return self

    def __eq__(self, other: object) -> bool:
        return other is None or other == "" or isinstance(other, Missing)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash("")

    def _is_not(self, _: object) -> bool:
        return False

    def _as_if_absent(self, other: Any) -> Any:
        return other

    def _stays(self, *_: object) -> "Missing":
        return self

    def _zero(self, *_: object) -> int:
        return 0

    def __float__(self) -> float:  # type: ignore[override]
        return 0.0

    def __repr__(self) -> str:
        return "''"

    __lt__ = __le__ = __gt__ = __ge__ = _is_not  # type: ignore[assignment]
    __add__ = __radd__ = _as_if_absent
    __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _stays  # type: ignore[assignment]
    __mod__ = __rmod__ = __pow__ = __rpow__ = __pos__ = __neg__ = __abs__ = _stays  # type: ignore[assignment]
    __int__ = __round__ = _zero  # type: ignore[assignment]


class AbsentValue(StrictUndefined):
    """Jinja's undefined value: `Missing` in a body, else an error."""

    __slots__ = ()

    def __new__(
        cls,
        hint: str | None = None,
        obj: Any = missing,
        name: str | None = None,
        exc: type[TemplateRuntimeError] = UndefinedError,
    ) -> Any:
        """As in `jinja2.Undefined`; without object and name: no first or previous item."""
        of_body = isinstance(obj, (Fields, Items, Words, Missing, *PLAIN)) or (obj is missing and name is None)
        if exc is UndefinedError and of_body:
            return Missing(hint, obj, name)
        return super().__new__(cls)


def marked(value: Any) -> Any:
    """Marked down to its texts; null fields are missing."""
    if isinstance(value, dict):
        return Fields(value)
    if isinstance(value, list):
        return Items(map(marked, value))
    return Words(value) if type(value) is str else value


def pairs_of(value: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """All fields in order, null ones too."""
    return tuple((key, dict.get(value, key)) for key in (_KEYS(value) if isinstance(value, Fields) else value))


def is_none(value: Any) -> bool:
    """Jinja's test `none`: a missing field is null."""
    return value is None or isinstance(value, Missing)


CLOCK_STEPS = 32
"""Between two looks at the clock."""
CLOCK_CHARS = 20_000
"""More at once cause a look at the clock."""


class LimitExceeded(TemplateRuntimeError):  # noqa: N818 - named after what happened
    """A template exceeds the steps, characters or time of a rendering."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a rendering; some grow with its values."""

    steps: int = 20_000
    steps_each: float = 0.05
    """Further ones for each character of the values."""
    characters: int = 1_000_000
    characters_each: int = 24
    """As `steps_each`."""
    seconds: float = 0.5
    """Processor time."""
    clock: Callable[[], float] = thread_time
    """Seconds of processor time so far."""


class Meter:
    """The account of one rendering."""

    __slots__ = ("_characters", "_ends", "_limits", "_looks", "_steps")

    def __init__(self, limits: Limits, value_chars: int) -> None:
        """value_chars: characters of the values."""
        self._limits = limits
        self._steps = limits.steps + int(limits.steps_each * value_chars)
        self._characters = limits.characters + limits.characters_each * value_chars
        self._looks = CLOCK_STEPS
        self._ends = limits.clock() + limits.seconds

    @property
    def remaining(self) -> int:
        """Characters that may still be handled."""
        return self._characters

    def step(self, characters: int) -> None:
        """Enter a block of `size` characters. Raises `LimitExceeded`."""
        self._steps -= 1
        if self._steps < 0:
            raise LimitExceeded("it takes more steps (loops and blocks) than a rendering may; let it loop over less")
        self._looks -= 1
        self.charge(characters)

    def charge(self, characters: int) -> None:
        """For characters read, made or compared. Raises `LimitExceeded`."""
        self._characters -= characters
        if self._characters < 0:
            raise LimitExceeded("it makes more text than a rendering may; let it repeat, pad or join less")
        if self._looks <= 0 or characters > CLOCK_CHARS:
            self._looks = CLOCK_STEPS
            if self._limits.clock() > self._ends:
                raise LimitExceeded(f"it takes longer than {self._limits.seconds:g} s; let it do less")


_METER: ContextVar[Meter] = ContextVar("meter")


@contextmanager
def metered(limits: Limits, value_chars: int) -> Iterator[None]:
    """value_chars: characters of the rendering's values."""
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


def charge_for(*values: Any) -> None:
    """Charge for everything in these values, repetitions included."""
    meter = _METER.get()
    for value in values:
        meter.charge(len(value) + 1 if isinstance(value, str) else size(value, meter.remaining))


def size(value: Any, most: int = sys.maxsize) -> int:
    """Characters plus one per part, up to `most`. Raises `TemplateRuntimeError` for anything but data."""
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
