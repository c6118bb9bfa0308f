"""Histories of the scopes used last, bounded by their passages.

A library's cache asks for an entry's size when it is put in; a history grows afterwards.
"""

from collections import OrderedDict
from collections.abc import Iterator

from builder.domain.recall import Scope
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.index.history import History
from builder.recall.index.keyed_lock import KeyedLock

SCOPE_PASSAGES = 50
"""What an open scope costs beside its passages, in passages."""


class HistoryCache:
    """A scope's history is a pure function of its rows, so dropping one costs time and changes nothing."""

    def __init__(self, passages: int) -> None:
        """passages: the most that all scopes together may hold in memory; the one in use is never dropped."""
        self._limit = passages
        self._histories: OrderedDict[Scope, History] = OrderedDict()
        self.locks = KeyedLock[Scope]()
        """A scope's history is extended only under the scope's lock."""

    def get(self, scope: Scope) -> History:
        """The scope's history as far as it was read."""
        history = self._histories.setdefault(scope, History())
        self._histories.move_to_end(scope)
        return history

    def scope_of_session(self, workspace: str, session: str) -> Scope:
        """The scope of this session without other sessions that was used last, so that no second history of it is read."""
        alone = (workspace, (session,), "")
        matches = (scope for scope in reversed(self._histories) if (scope.workspace, scope.sessions, scope.user) == alone)
        return next(matches, Scope(workspace=workspace, sessions=(session,)))

    def accepts(self, history: History, revision: int) -> bool:
        """Whether rows of this revision may join it: not after the scope was revised, nor after an extension that ended early."""
        if not history.rows:
            history.revision = revision
        return history.is_whole and history.revision == revision

    def reset(self, scope: Scope) -> History:
        """An empty history in place of the scope's, to be read from its beginning."""
        self._histories[scope] = History()
        return self.get(scope)

    def drop(self, workspace: str) -> int:
        """Drop the histories of a workspace; returns how many scopes."""
        scopes = [scope for scope in self._histories if scope.workspace == workspace]
        for scope in scopes:
            del self._histories[scope]
        return len(scopes)

    def extend(self, history: History, rows: tuple[StoredBreadcrumb, ...]) -> Iterator[None]:
        """Append the rows behind its place, with pauses (`History.extending`); then drop the scopes unused for longest.

        To be read to its end.
        """
        yield from history.extending(tuple(filter(history.lacks, rows)))
        while len(self._histories) > 1 and self._size() > self._limit:
            self._histories.popitem(last=False)

    def _size(self) -> int:
        return sum(history.cost + SCOPE_PASSAGES for history in self._histories.values())
