"""The history of a scope as of a place, read from the store as far as it is not in memory yet."""

import asyncio

from builder.domain.breadcrumb import Place
from builder.domain.profile import Profile
from builder.domain.recall import RecallQuery, Scope
from builder.ports.models import NO_MODEL, Embedder
from builder.ports.store import Store
from builder.recall.index.cache import HistoryCache
from builder.recall.index.history import History
from builder.recall.index.view import View, as_of
from builder.recall.pinned import Held, kinds

PAGE = 2_000
"""Rows of one recall."""
FILLED = 64
"""Rows without vectors that one look asks for."""


class HistoryReader:
    """Extends the histories in memory by what the store has learned since."""

    def __init__(self, store: Store, embedder: Embedder, history_cache: HistoryCache) -> None:
        """Everything is passed in; nothing is opened here."""
        self._store = store
        self._embedder = embedder
        self._histories = history_cache

    async def recall(self, session: str, until: Place, scope: Scope, consumers: tuple[Profile, ...]) -> tuple[Held, View]:
        """What stands, and the history as of a place. One recall of a scope at a time: they extend the same history."""
        async with self._histories.lock(scope):
            return await self._read(session, until, scope, consumers)

    async def _read(self, session: str, until: Place, scope: Scope, consumers: tuple[Profile, ...]) -> tuple[Held, View]:
        """In pages, so that a long session that nobody holds yet neither fills the memory nor stops everybody else.

        Once the scope was revised (something erased, what had joined one session joined another), or a reading ended in the
        middle, all is read again; what is revised between two pages is left to the next recall.
        """
        history, revision = self._histories.of(scope), None
        while True:
            recall = await self._store.recall(
                RecallQuery(
                    scope=scope,
                    session=session,
                    after=history.place,
                    until=until,
                    limit=PAGE,
                    pinned=kinds(consumers),
                    model=self._embedder.model,
                )
            )
            revision = recall.revision if revision is None else revision
            if not self._histories.takes(history, revision):
                history, revision = self._histories.renew(scope), None
                continue
            for _ in self._histories.growing(history, recall.rows):
                await asyncio.sleep(0)
            if len(recall.rows) < PAGE:
                await self._fill(history)
                return dict(zip(kinds(consumers), recall.pinned, strict=True)), as_of(history, until, session)

    async def _fill(self, history: History) -> None:
        """Write in place the vectors that came since these rows were read."""
        while self._embedder.model != NO_MODEL and (rows := history.lacking[:FILLED]):
            found = await self._store.vectors(tuple(history.rows[row].breadcrumb for row in rows), self._embedder.model)
            if not history.fill(dict(zip(rows, found, strict=True))):
                return
