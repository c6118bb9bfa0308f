"""How long the parts of a delivery take, so that "why was this context late?" has an answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Literal, get_args

Part = Literal["wait", "catch_up", "embedding", "recall", "page"]
PARTS: tuple[Part, ...] = get_args(Part)
"""Waiting in the stream and for a turn, reading earlier messages, vectors, the history, the page with its search.

Embedding and recall run at the same time, so the sum may exceed the whole.
"""
_SECONDS: ContextVar[dict[Part, float]] = ContextVar("seconds_by_part")


@contextmanager
def stopwatch() -> Iterator[dict[Part, float]]:
    """Collect what `timed` measures inside the block, in the tasks that it starts, too: part → seconds."""
    seconds: dict[Part, float] = {}
    token = _SECONDS.set(seconds)
    try:
        yield seconds
    finally:
        _SECONDS.reset(token)


@contextmanager
def timed(part: Part) -> Iterator[None]:
    """Add the duration of the block to its part."""
    start = perf_counter()
    try:
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
