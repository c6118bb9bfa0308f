"""How work grows with its size, as a ratio: the same on a slow machine as on a fast one.

The only clocks of tests are here and in `running.py`, whose time-outs end a wait for a condition that never comes. A test that
hangs is ended by pytest's `faulthandler_timeout`, which asserts nothing about speed.
"""

import time
from collections.abc import Callable

LINEAR = 40
"""More than tenfold linear work can grow, less than the hundredfold of quadratic work."""
RUNS = 3


def growth(work: Callable[[int], object], size: int) -> float:
    """How many times more processor time the tenfold size takes; the least of three runs of each."""
    return _least(work, 10 * size) / _least(work, size)


def _least(work: Callable[[int], object], size: int) -> float:
    def run() -> float:
        start = time.thread_time()
        work(size)
        return time.thread_time() - start

    return min(run() for _ in range(RUNS))
