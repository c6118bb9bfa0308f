"""Histories of the scopes used last, bounded by their passages."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from weakref import WeakValueDictionary

from builder.domain.breadcrumb import Place
from builder.domain.recall import Scope
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.index.history import History

SCOPE_COST = 50
"""What an open scope costs beside its passages, in passages."""


class HistoryCache:
    """A scope's history is a pure function of its rows, so forgetting one costs time and changes nothing."""

    def __init__(self, passages: int) -> None:
        """passages: the most that all scopes together may hold in memory; the one in use is never forgotten."""
        self._limit = passages
        self._held: OrderedDict[Scope, History] = OrderedDict()
        self._locks: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()

    def of(self, scope: Scope) -> History:
        """The scope's history as far as it is known."""
        history = self._held.setdefault(scope, History())
        self._held.move_to_end(scope)
        return history

    def lock(self, scope: Scope) -> asyncio.Lock:
        """To be held while the scope's history is extended."""
        return self._locks.setdefault(scope, asyncio.Lock())

    def takes(self, history: History, revision: int) -> bool:
        """Whether rows of this revision may join it.

        One that was read before the scope was revised takes no later rows, nor does one whose growing ended in the middle.
        """
        if not history.rows:
            history.revision = revision
        return history.is_whole and history.revision == revision

    def renew(self, scope: Scope) -> History:
        """An empty one in the place of the scope's, to be read from its beginning."""
        self._held[scope] = History()
        return self.of(scope)

    def forget(self, workspace: str) -> int:
        """Let go of what is held of a workspace; returns how many scopes."""
        gone = [scope for scope in self._held if scope.workspace == workspace]
        for scope in gone:
            del self._held[scope]
        return len(gone)

    def grow(self, history: History, rows: tuple[StoredBreadcrumb, ...]) -> History:
        """Append the rows that it does not have yet, and forget the scopes unused for longest while there are too many."""
        for _ in self.growing(history, rows):
            pass
        return history

    def growing(self, history: History, rows: tuple[StoredBreadcrumb, ...]) -> Iterator[None]:
        """The same with pauses; see `History.extending`."""
        place: Place = history.place
        yield from history.extending(tuple(row for row in rows if row.breadcrumb.place > place))
        while len(self._held) > 1 and sum(held.passages + SCOPE_COST for held in self._held.values()) > self._limit:
            self._held.popitem(last=False)
