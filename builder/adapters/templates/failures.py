"""The failures of the templates of one configuration: the first reason of each template, and their number."""

from collections.abc import Callable
from dataclasses import replace

from builder.domain.failure import Failure

Listener = Callable[[Failure], None]


class Failures:
    """Counted by template; `listener` gets each one."""

    def __init__(self, listener: Listener) -> None:
        """listener: called with the failure and its count."""
        self._listener = listener
        self._by_file: dict[str, Failure] = {}

    def add(self, failure: Failure) -> None:
        """Count a failure."""
        earlier = self._by_file.get(failure.file)
        counted = replace(earlier, times=earlier.times + 1) if earlier else failure
        self._by_file[counted.file] = counted
        self._listener(counted)

    @property
    def all(self) -> tuple[Failure, ...]:
        """In the order of their first time."""
        return tuple(self._by_file.values())


def silence(_: Failure) -> None:
    """A listener that ignores failures."""
