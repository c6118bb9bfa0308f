"""What the templates of one edition could not render: the first reason of each template, and how often."""

from collections.abc import Callable
from dataclasses import replace

from builder.domain.failure import Failure

Listener = Callable[[Failure], None]


class Failures:
    """Counted by template; `list_session` hears of each time."""

    def __init__(self, listener: Listener) -> None:
        """told: of the failure, with how often it came."""
        self._listener = listener
        self._first: dict[str, Failure] = {}

    def add(self, failure: Failure) -> None:
        """One more."""
        before = self._first.get(failure.file)
        now = replace(before, times=before.times + 1) if before else failure
        self._first[now.file] = now
        self._listener(now)

    @property
    def all(self) -> tuple[Failure, ...]:
        """In the order in which they came."""
        return tuple(self._first.values())


def silence(_: Failure) -> None:
    """For whoever only wants the pages."""
