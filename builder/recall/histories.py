"""Histories of scopes in memory, extended by what the store has learned since."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from builder.domain.breadcrumb import ORIGIN, Place
from builder.domain.recall import RecallQuery, Scope
from builder.domain.selector import Pinned
from builder.domain.stored import StoredBreadcrumb
from builder.ports.models import NO_MODEL
from builder.ports.store import Store
from builder.recall.index.chronology import in_order_of_time
from builder.recall.index.history import History
from builder.recall.index.view import View, as_of
from builder.recall.keyed_lock import KeyedLock

SCOPE_PASSAGES = 50
"""The cost of an open scope beside its passages, in passages."""
PAGE_ROWS = 2_000
"""Rows of one recall: a long session is read in pages, so that it neither fills the memory nor stops the loop."""
VECTOR_ROWS = 64
"""Rows without vectors that one look asks for."""

PinnedRows = tuple[tuple[StoredBreadcrumb, ...], ...]


class HistoryCache:
    """Dropping a history costs time and changes nothing."""

    def __init__(self, passages: int) -> None:
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
        """The scope of this session alone that was used last, so that no second history of it is read."""
        alone = (workspace, (session,), "")
        matches = (scope for scope in reversed(self._histories) if (scope.workspace, scope.sessions, scope.user) == alone)
        return next(matches, Scope(workspace=workspace, sessions=(session,)))

    def accepts(self, history: History, revision: int) -> bool:
        """Whether rows of this revision may join it."""
        if not history.rows:
            history.revision = revision
        return history.is_whole and history.revision == revision

    def reset(self, scope: Scope) -> History:
        """An empty history, to be read from its beginning."""
        self._histories[scope] = History()
        return self.get(scope)

    def drop(self, workspace: str) -> int:
        """Drop the histories of a workspace; returns how many scopes."""
        scopes = [scope for scope in self._histories if scope.workspace == workspace]
        for scope in scopes:
            del self._histories[scope]
        return len(scopes)

    def extend(self, history: History, rows: tuple[StoredBreadcrumb, ...]) -> Iterator[None]:
        """Append the rows that it lacks, with pauses; then drop the scopes unused for longest. Read it to its end."""
        yield from history.extending(tuple(filter(history.lacks, rows)))
        cost = sum(each.cost + SCOPE_PASSAGES for each in self._histories.values())
        while len(self._histories) > 1 and cost > self._limit:
            cost -= self._histories.popitem(last=False)[1].cost + SCOPE_PASSAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryReader:
    """Extends the histories by what the store has learned since."""

    store: Store
    cache: HistoryCache
    model: str
    """Id of the engine whose vectors are read."""
    page_rows: int = PAGE_ROWS

    async def read(
        self,
        session: str,
        until: Place,
        scope: Scope,
        pinned: tuple[Pinned, ...],
        *,
        inclusive: bool = False,
        searched: bool = True,
    ) -> tuple[PinnedRows, View]:
        """For each pinned kind its rows as of a place, and the history before it. Raises `Unavailable`.

        inclusive: the history includes the place. searched: read terms and vectors, too.
        """
        async with self.cache.locks.of(scope):
            history, revision = self.cache.get(scope), None
            if searched > history.is_searched:
                history = self.cache.reset(scope)
            while True:
                history.is_searched &= searched or bool(history.rows)
                query = RecallQuery(
                    scope=scope,
                    session=session,
                    after=history.place,
                    until=until,
                    limit=self.page_rows,
                    pinned=pinned,
                    model=self.model,
                    searched=history.is_searched,
                )
                page = await self.store.recall(query)
                revision = page.revision if revision is None else revision
                if not self.cache.accepts(history, revision):
                    history, revision = self.cache.reset(scope), None
                    continue
                is_whole = len(page.rows) < self.page_rows
                if history.continues_with(page.rows):
                    for _ in self.cache.extend(history, page.rows):
                        await asyncio.sleep(0)
                else:  # something older was imported
                    history, is_whole = self.cache.reset(scope), True
                    await self._read_anew(history, query, revision)
                if is_whole and history.size_at(until, inclusive=inclusive) < 0:
                    history = History()
                    await self._read_anew(history, query, revision, inclusive=inclusive)
                if is_whole:
                    await self._fill(history)
                    return page.pinned, as_of(history, until, session, inclusive=inclusive)

    async def rows(self, query: RecallQuery) -> tuple[StoredBreadcrumb, ...]:
        """All rows of a query's scope up to its end, with their facts, in place order. Raises `Unavailable`."""
        rows: list[StoredBreadcrumb] = []
        query = replace(query, after=ORIGIN, limit=self.page_rows, pinned=())
        while True:
            page = (await self.store.recall(query)).rows
            rows += page
            if len(page) < self.page_rows:
                return tuple(rows)
            query = replace(query, after=page[-1].breadcrumb.place)

    async def _read_anew(self, history: History, query: RecallQuery, revision: int, *, inclusive: bool = True) -> None:
        """All rows in order of time, into an empty history. inclusive: also the one at the end of the query."""
        history.revision, history.is_searched = revision, query.searched
        rows = (row for row in await self.rows(query) if inclusive or row.order < (query.until, 1))
        for _ in self.cache.extend(history, tuple(in_order_of_time(rows))):
            await asyncio.sleep(0)

    async def _fill(self, history: History) -> None:
        while history.is_searched and self.model != NO_MODEL and (rows := history.lacking[:VECTOR_ROWS]):
            vectors = await self.store.vectors(tuple(history.rows[row].breadcrumb for row in rows), self.model)
            if not history.fill(dict(zip(rows, vectors, strict=True))):
                return
