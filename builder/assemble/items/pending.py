"""Fragments that take long are made beside the loop; then the page is begun again."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, TypeVar

Value = TypeVar("Value")


class FragmentPending(Exception):  # noqa: N818 - nothing failed
    """Fragments take long, and the caller asked to be told."""

    def __init__(self, works: Mapping[Hashable, Callable[[], object]]) -> None:
        """works: each makes a fragment, in any thread; begin the page again once `READY` has all of them."""
        super().__init__()
        self.works = works


PENDING_CHARS: ContextVar[float] = ContextVar("pending_chars", default=math.inf)
"""Body and text of more characters take long."""
READY: ContextVar[Mapping[Hashable, Any]] = ContextVar("ready", default=MappingProxyType({}))
"""Fragments of the page that is begun again; no cache pushes them out before the page is done."""


def each(makes: Iterable[Callable[[], Value]]) -> tuple[Value, ...]:
    """The results in order. Raises `FragmentPending` for all that are pending at once."""
    values, works = list[Value](), dict[Hashable, Callable[[], object]]()
    for make in makes:
        try:
            values.append(make())
        except FragmentPending as pending:
            works |= pending.works
    if works:
        raise FragmentPending(works)
    return tuple(values)
