"""The parts of a delivery's time."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from time import perf_counter
from typing import Literal, get_args

Part = Literal["wait", "catch_up", "embedding", "recall", "page"]
PARTS: tuple[Part, ...] = get_args(Part)
"""Waiting (in the stream, for a turn, for the quiet time, during earlier attempts), reading earlier messages with what is
remembered of them, vectors, the history, the page with its search.

Embedding and recall run at the same time, and earlier messages are embedded too, so the sum may exceed the whole.
"""
PartScope = Callable[[Part], AbstractContextManager[object]]
_SECONDS: ContextVar[dict[Part, float]] = ContextVar("seconds_by_part")
_PART_SCOPE: ContextVar[PartScope] = ContextVar("part_scope", default=nullcontext)


@contextmanager
def stopwatch(scope: PartScope = nullcontext) -> Iterator[dict[Part, float]]:
    """Collect what `timed` measures inside the block, in the tasks that it starts, too: part → seconds.

    scope: entered for each part.
    """
    seconds: dict[Part, float] = {}
    tokens = _SECONDS.set(seconds), _PART_SCOPE.set(scope)
    try:
        yield seconds
    finally:
        _SECONDS.reset(tokens[0])
        _PART_SCOPE.reset(tokens[1])


@contextmanager
def timed(part: Part) -> Iterator[None]:
    """Add the duration of the block to its part."""
    start = perf_counter()
    try:
        with _PART_SCOPE.get()(part):
            yield
    finally:
        seconds = _SECONDS.get(None)
        if seconds is not None:
            seconds[part] = seconds.get(part, 0.0) + perf_counter() - start


def times_text() -> str:
    """The times until now as `wait=12 catch_up=1 …` in milliseconds, for a header; "" outside a stopwatch."""
    seconds = _SECONDS.get({})
    return " ".join(f"{part}={1e3 * seconds[part]:.0f}" for part in PARTS if part in seconds)


def times_of(text: str) -> dict[str, int]:
    """Part → milliseconds of what `times_text` wrote."""
    pairs = (pair.partition("=") for pair in text.split())
    return {part: int(milliseconds) for part, _, milliseconds in pairs if part in PARTS and milliseconds.isdecimal()}
