"""What the sandbox costs a fragment: every bundled hint on its examples, beside Jinja alone, in one run."""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

MILLISECONDS = 1_000
WARM_UP_ROUNDS = 5


Renderer = tuple[str, Callable[[], str], Callable[[], str]]
"""A hint, and its text on one example by the sandbox and by Jinja alone."""


def run(renderers: list[Renderer], rounds: int, step: Callable[[], None]) -> dict[str, Any]:
    """Medians by hint and of all. step: called after each hint's example.

    Raises `AssertionError` when the two ways give different texts.
    """
    rows: dict[str, dict[str, float]] = {}
    overheads: list[float] = []
    for hint, sandboxed, bare in renderers:
        if sandboxed() != bare():
            raise AssertionError(f"the hint {hint} gives another text by Jinja alone")
        times = [(_seconds(sandboxed), _seconds(bare)) for _ in range(rounds + WARM_UP_ROUNDS)][WARM_UP_ROUNDS:]
        inside, alone = (MILLISECONDS * median(each) for each in zip(*times, strict=True))
        overheads.append(inside - alone)
        rows[hint] = _row(inside, alone)
        step()
    return {
        "rounds": rounds,
        "fragments": len(renderers),
        "overhead_median_ms": round(median(overheads), 4),
        "overhead_most_ms": round(max(overheads), 4),
        "hints": rows,
    }


def _row(inside: float, alone: float) -> dict[str, float]:
    return {
        "sandboxed_ms": round(inside, 4),
        "jinja_ms": round(alone, 4),
        "overhead_ms": round(inside - alone, 4),
        "ratio": round(inside / alone, 2),
    }


def _seconds(work: Callable[[], str]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
