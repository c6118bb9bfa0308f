"""Histories of the sessions used last, bounded by their passages."""

from collections import OrderedDict

from builder.domain.breadcrumb import Place
from builder.domain.facts import Remembered
from builder.pipeline.history import History

SESSION_COST = 50
"""What an open session costs beside its passages, in passages."""


class Histories:
    """A session's history is a pure function of its rows, so forgetting one costs time and changes nothing."""

    def __init__(self, passages: int) -> None:
        """passages: the most that all sessions together may hold in memory; the session in use is never forgotten."""
        self._limit = passages
        self._held: OrderedDict[tuple[str, str], History] = OrderedDict()

    def of(self, workspace: str, session: str) -> History:
        """The session's history as far as it is known."""
        key = (workspace, session)
        history = self._held.setdefault(key, History())
        self._held.move_to_end(key)
        return history

    def takes(self, history: History, revision: int) -> bool:
        """Whether rows of this revision may join it: one that was read before vectors were filled in takes no later rows."""
        if not history.rows:
            history.revision = revision
        return history.revision == revision

    def forget(self, workspace: str, session: str) -> None:
        """Read the session again from its beginning."""
        self._held.pop((workspace, session), None)

    def grow(self, history: History, rows: tuple[Remembered, ...]) -> History:
        """Append the rows that it does not have yet, and forget the sessions unused for longest while there are too many."""
        place: Place = history.place
        history.extend(tuple(row for row in rows if row.breadcrumb.place > place))
        while len(self._held) > 1 and sum(held.passages + SESSION_COST for held in self._held.values()) > self._limit:
            self._held.popitem(last=False)
        return history
