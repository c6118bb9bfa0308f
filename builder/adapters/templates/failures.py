"""What the templates could not render since they were read: the first reason of each template, and how often."""

from collections.abc import Callable
from dataclasses import replace

from builder.domain.failure import Failure

Listener = Callable[[Failure], None]


class Failures:
    """Failures by template."""

    def __init__(self, listener: Listener) -> None:
        """listener: called for each failure, which says how often it came."""
        self._listener = listener
        self._first: dict[str, Failure] = {}

    def add(self, failure: Failure) -> None:
        """Count it."""
        before = self._first.get(failure.file)
        now = replace(before, times=before.times + 1) if before else failure
        self._first[now.file] = now
        self._listener(now)

    @property
    def all(self) -> tuple[Failure, ...]:
        """In the order of their first occurrence."""
        return tuple(self._first.values())


def silence(_: Failure) -> None:
    """Ignore a failure."""
