"""Forgetting (features A11): a tombstone erases whatever was made from its breadcrumb, wherever it is.

Every step may be repeated, so a crash in the middle repeats the line. Superseding needs none of this: an older version is
history, which recall leaves out and which `as of` an earlier place still needs.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.erasure_receipt import ErasureReceipt
from builder.domain.recall import EVERY_SESSION
from builder.ports.broker import Archive
from builder.ports.store import Eraser, PendingStubs
from builder.worker.catch_up import CatchUp

log = logging.getLogger("builder.worker.erasure")

KEPT = 1_000
"""Receipts kept in memory, so that whoever asks for a tombstone's receipt gets the one."""


class ContextEraser:
    """Takes published contexts away and leaves a stub in the place of each."""

    def __init__(self, stubs: PendingStubs, archive: Archive) -> None:
        self._stubs = stubs
        self._archive = archive
        self._lock = asyncio.Lock()

    async def replace(self, workspace: str, ids: frozenset[str]) -> int:
        """Those that name one of these breadcrumbs; returns how many. Raises `Unavailable`; may be repeated.

        A crash between taking a context away and its stub would let a second one through: so the stub is noted before.
        """
        async with self._lock:
            for subject in await self._stubs.pending_stubs():
                await self._archive.replace_context(0, subject)
                await self._stubs.remove_stub(subject)
            found = await self._archive.contexts_with(workspace, ids)
            for sequence, subject in found:
                await self._stubs.add_stub(subject)
                await self._archive.replace_context(sequence, subject)
                await self._stubs.remove_stub(subject)
        return len(found)


class Erasure:
    """Erases for tombstones; one run a tombstone, however many ask for it."""

    def __init__(
        self, catch_up: CatchUp, eraser: Eraser, stubs: PendingStubs, archive: Archive, drop: Callable[[str, frozenset[str]], int]
    ) -> None:
        """drop: takes a workspace and ids out of this process's caches and returns how many entries went."""
        self._catch_up = catch_up
        self._eraser = eraser
        self._contexts = ContextEraser(stubs, archive)
        self._archive = archive
        self._drop = drop
        self._runs: OrderedDict[Place, asyncio.Task[ErasureReceipt]] = OrderedDict()

    async def forget(self, tombstone: Breadcrumb) -> ErasureReceipt:
        """Erase what the tombstone removes below its place. Raises `Unavailable`: ask again."""
        run = self._runs.get(tombstone.place)
        if run is None or (run.done() and (run.cancelled() or run.exception())):
            run = self._runs[tombstone.place] = asyncio.create_task(self._erase(tombstone))
            if len(self._runs) > KEPT and self._runs[next(iter(self._runs))].done():
                self._runs.popitem(last=False)
        return await asyncio.shield(run)

    async def settle(self, tombstone: Breadcrumb) -> None:
        """`forget` for the worker, whose turn comes when what came before in the session is settled. Raises `Unavailable`.

        Where somebody else has begun it, a context may have been in the making from what was read before: look once more.
        """
        begun = tombstone.place in self._runs
        receipt = await self.forget(tombstone)
        if begun:
            ids = frozenset({receipt.id, *receipt.summaries})
            self._drop(receipt.workspace, ids)
            await self._contexts.replace(receipt.workspace, ids)

    async def _erase(self, tombstone: Breadcrumb) -> ErasureReceipt:
        """Everything before the tombstone is remembered first: what somebody still holds in his hands cannot be stored later."""
        workspace, session, gone, place = tombstone.workspace, tombstone.session, tombstone.removes, tombstone.place
        await self._catch_up.walk(workspace, EVERY_SESSION if session == NO_SESSION else session, place)
        taken = await self._eraser.erase(workspace, session, gone, place)
        summaries = [trace for trace in await self._eraser.traces(workspace, gone) if trace.id != gone]
        ids = frozenset({gone, *(summary.id for summary in summaries)})
        cached = self._drop(workspace, ids)
        messages = await self._archive.delete_breadcrumbs(workspace, session, frozenset({gone}), place)
        messages += sum([await self._archive.delete_at(crumb.place, workspace, crumb.session, crumb.id) for crumb in summaries])
        letters = await self._archive.delete_letters(workspace, session, ids)
        contexts = await self._contexts.replace(workspace, ids)
        receipt = ErasureReceipt(
            workspace=workspace,
            session=session,
            id=gone,
            by=tombstone.speaker,
            at=tombstone.received_at,
            versions=sum(crumb.id == gone for crumb in taken),
            summaries=tuple(summary.id for summary in summaries),
            messages=messages,
            contexts=contexts,
            letters=letters,
            cached=cached,
        )
        log.info(
            "forgot %s of %s: %d versions, %d summaries, %d messages, %d contexts, %d dead letters",
            gone, workspace, receipt.versions, len(summaries), messages, contexts, letters,
        )  # fmt: skip
        return receipt
