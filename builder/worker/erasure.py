"""Erasure: a tombstone erases all that was made from its breadcrumb, in stream, store, caches, contexts and dead letters.

Every step may be repeated, so a crash in the middle repeats all of them. Superseding erases nothing: an older version is history,
which recall leaves out and which `as of` an earlier position still needs.
"""

import asyncio
import logging
from collections.abc import Callable

from cachetools import LRUCache

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.recall import EVERY_SESSION
from builder.domain.reports import Receipt
from builder.ports.broker import Archive
from builder.ports.store import PendingStubs
from builder.worker.log import Log

log = logging.getLogger("builder.worker.erasure")

MAX_RECEIPTS = 1_000
"""Receipts in memory: every request about one tombstone gets the same."""


class ContextEraser:
    """Replaces published contexts by stubs. A process has one: two would take each other's pending stubs for ended ones."""

    def __init__(self, stubs: PendingStubs, archive: Archive) -> None:
        self._stubs = stubs
        self._archive = archive
        self._lock = asyncio.Lock()

    async def replace(self, workspace: str, ids: frozenset[str]) -> int:
        """Replace the contexts that name one of these breadcrumbs; returns how many. Raises `Unavailable`; may be repeated.

        Each stub is noted first: a crash between a removal and its stub would let a second context through.
        """
        async with self._lock:
            for subject in await self._stubs.pending_stubs():
                await self._archive.replace_context(0, subject)
                await self._stubs.remove_stub(subject)
            contexts = await self._archive.contexts_with(workspace, ids)
            for sequence, subject in contexts:
                await self._stubs.add_stub(subject)
                await self._archive.replace_context(sequence, subject)
                await self._stubs.remove_stub(subject)
        return len(contexts)


class Erasure:
    """Erases for tombstones, one run for each tombstone. All methods raise `Unavailable`."""

    def __init__(self, log: Log, archive: Archive, drop: Callable[[str, frozenset[str]], int]) -> None:
        """drop: removes ids of a workspace from the caches of this process; returns how many entries."""
        self.contexts = ContextEraser(log.store, archive)
        self._log = log
        self._archive = archive
        self._drop = drop
        self._runs: LRUCache[Place, asyncio.Task[Receipt]] = LRUCache(MAX_RECEIPTS)

    async def erase(self, tombstone: Breadcrumb) -> Receipt:
        """Erase what the tombstone removes before its position. After an error, ask again."""
        run = self._runs.get(tombstone.place)
        if run is None or (run.done() and (run.cancelled() or run.exception())):
            run = self._runs[tombstone.place] = asyncio.create_task(self._erase(tombstone))
        return await asyncio.shield(run)

    async def erase_in_order(self, tombstone: Breadcrumb) -> None:
        """`erase` for the worker, when everything earlier of the session is settled.

        A run that began before may have missed a context that was being built: then contexts are replaced a second time.
        """
        is_repeat = tombstone.place in self._runs
        receipt = await self.erase(tombstone)
        if is_repeat:
            ids = frozenset({receipt.id, *receipt.summaries})
            self._drop(receipt.workspace, ids)
            await self.contexts.replace(receipt.workspace, ids)

    async def erase_here(self, tombstone: Breadcrumb) -> tuple[tuple[Breadcrumb, ...], tuple[Breadcrumb, ...], int]:
        """Erase in this worker's store and caches: what was erased, the traces of summaries, the number of cached entries.

        Catches up to the tombstone first, so that this worker stores no older copy afterwards.
        """
        workspace, session, identity, place = tombstone.workspace, tombstone.session, tombstone.removes, tombstone.place
        await self._log.catch_up(workspace, EVERY_SESSION if session == NO_SESSION else session, place)
        erased = await self._log.store.erase(workspace, session, identity, place)
        summaries = tuple(trace for trace in await self._log.store.traces(workspace, identity) if trace.id != identity)
        return erased, summaries, self._drop(workspace, frozenset({identity, *(summary.id for summary in summaries)}))

    async def _erase(self, tombstone: Breadcrumb) -> Receipt:
        workspace, session, identity, place = tombstone.workspace, tombstone.session, tombstone.removes, tombstone.place
        erased, summaries, cached = await self.erase_here(tombstone)
        ids = frozenset({identity, *(summary.id for summary in summaries)})
        messages = await self._archive.delete_breadcrumbs(workspace, session, frozenset({identity}), place)
        messages += sum([await self._archive.delete_at(crumb.place, workspace, crumb.session, crumb.id) for crumb in summaries])
        letters = await self._archive.delete_letters(workspace, session, ids)
        contexts = await self.contexts.replace(workspace, ids)
        receipt = Receipt(
            workspace=workspace,
            session=session,
            id=identity,
            by=tombstone.speaker,
            at=tombstone.received_at,
            versions=sum(crumb.id == identity for crumb in erased),
            summaries=tuple(crumb.id for crumb in erased if crumb.id != identity),
            messages=messages,
            contexts=contexts,
            dead_letters=letters,
            cached=cached,
        )
        log.info(
            "forgot %s of %s: %d versions, %d summaries, %d messages, %d contexts, %d dead letters",
            identity, workspace, receipt.versions, len(receipt.summaries), messages, contexts, letters,
        )  # fmt: skip
        return receipt
