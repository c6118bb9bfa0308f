"""The history of a scope as of a place, read from the store as far as it is not in memory yet."""

import asyncio
from dataclasses import dataclass

from builder.domain.breadcrumb import Place
from builder.domain.recall import RecallQuery, Scope
from builder.domain.selector import Pinned
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.ports.models import NO_MODEL
from builder.ports.store import Store
from builder.recall.index.cache import HistoryCache
from builder.recall.index.history import History
from builder.recall.index.view import View, as_of

PAGE_ROWS = 2_000
"""Rows of one recall: a long session is read in pages, so that it neither fills the memory nor stops the loop."""
VECTOR_ROWS = 64
"""Rows without vectors that one look asks for."""

PinnedRows = tuple[tuple[StoredBreadcrumb, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryReader:
    """Extends the histories in memory by what the store has learned since."""

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
        """For each pinned kind its rows as of a place, and the history in front of it. Raises `Unavailable`.

        inclusive: the history ends with the place. searched: without a search no terms and vectors are read. One reading of a
        scope at a time, because all extend the same history.
        """
        async with self.cache.locks.of(scope):
            rows, history = await self._read(session, until, scope, pinned, searched)
            return rows, as_of(history, until, session, inclusive=inclusive)

    async def _read(
        self, session: str, until: Place, scope: Scope, pinned: tuple[Pinned, ...], searched: bool
    ) -> tuple[PinnedRows, History]:
        """All is read again when the scope was revised, when a reading ended in the middle, and at the first search.

        A revision between two pages is left to the next reading.
        """
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
            for _ in self.cache.extend(history, page.rows):
                await asyncio.sleep(0)
            if len(page.rows) < self.page_rows:
                await self._fill(history)
                return page.pinned, history

    async def _fill(self, history: History) -> None:
        """Write the vectors that came since these rows were read."""
        while history.is_searched and self.model != NO_MODEL and (rows := history.lacking[:VECTOR_ROWS]):
            vectors = await self.store.vectors(tuple(history.rows[row].breadcrumb for row in rows), self.model)
            if not history.fill(dict(zip(rows, vectors, strict=True))):
                return
