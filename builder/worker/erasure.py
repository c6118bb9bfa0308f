"""Erasure: a tombstone erases all that was made from its breadcrumb, in stream, store, caches, contexts and dead letters.

A request to forget becomes a tombstone in the session of its breadcrumb, and every worker follows every tombstone. Every step may
be repeated. Superseding erases nothing: an older version is history, which `as of` an earlier position still needs.
"""

import asyncio
import logging
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

from cachetools import LRUCache

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, TOMBSTONE, Breadcrumb, Place
from builder.domain.recall import EVERY_SESSION
from builder.domain.reports import Receipt
from builder.ports.broker import Archive, Sender
from builder.ports.store import PendingStubs
from builder.wire.records import make_record, outgoing
from builder.wire.requests import receipt_json
from builder.worker.log import Log, StoredLog

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

    def __init__(self, log: StoredLog, archive: Archive, drop: Callable[[str, frozenset[str]], int]) -> None:
        """drop: removes ids of a workspace from the caches of this process; returns how many entries."""
        self.contexts = ContextEraser(log.store, archive)
        self._log = log
        self.archive = archive
        self.drop = drop
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
            self.drop(receipt.workspace, ids)
            await self.contexts.replace(receipt.workspace, ids)

    async def erase_here(self, tombstone: Breadcrumb) -> tuple[tuple[Breadcrumb, ...], tuple[Breadcrumb, ...], int]:
        """Erase in this worker's store and caches: what was erased, the traces of summaries, the number of cached entries.

        Catches up to the tombstone first, so that this worker stores no older copy afterwards.
        """
        workspace, session, identity, place = tombstone.workspace, tombstone.session, tombstone.removes, tombstone.place
        await self._log.catch_up(workspace, EVERY_SESSION if session == NO_SESSION else session, place)
        erased = await self._log.store.erase(workspace, session, identity, place)
        summaries = tuple(trace for trace in await self._log.store.traces(workspace, identity) if trace.id != identity)
        return erased, summaries, self.drop(workspace, frozenset({identity, *(summary.id for summary in summaries)}))

    async def _erase(self, tombstone: Breadcrumb) -> Receipt:
        workspace, session, identity, place = tombstone.workspace, tombstone.session, tombstone.removes, tombstone.place
        erased, summaries, cached = await self.erase_here(tombstone)
        ids = frozenset({identity, *(summary.id for summary in summaries)})
        messages = await self.archive.delete_breadcrumbs(workspace, session, frozenset({identity}), place)
        messages += sum([await self.archive.delete_at(crumb.place, workspace, crumb.session, crumb.id) for crumb in summaries])
        letters = await self.archive.delete_letters(workspace, session, ids)
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


LAST_TOMBSTONE = ("", "context-builder-tombstones")
"""Key of the ledger under which the last tombstone is noted."""
REPEAT_SECONDS = 60.0
"""After which a tombstone is followed once more: a delivery or a walk may have read the message before another worker deleted it,
and remembered it since."""


class Forgetting:
    """Publishes tombstones, and erases for those that it reads. All methods raise `Unavailable`."""

    def __init__(
        self, log: Log, erasure: Erasure, sender: Sender, archive: Archive, clock: Callable[[], float] = monotonic
    ) -> None:
        self._log = log
        self._erasure = erasure
        self._sender = sender
        self._archive = archive
        self._clock = clock
        self._reached = ORIGIN
        self._lock = asyncio.Lock()
        self._repeats: deque[tuple[float, Breadcrumb]] = deque()
        """When to follow each tombstone once more, in order; the ledger stays before them."""

    async def request(self, workspace: str, session: str, identity: str, by: str, versions: int = 0) -> dict[str, Any]:
        """Forget a breadcrumb; returns the receipt. versions: that the store had. Raises `Rejected`.

        Contexts are counted before the tombstone is published: another worker may take it, and erase at the same time.
        """
        contexts = len(await self._archive.contexts_with(workspace, frozenset({identity})))
        body = {"breadcrumb_id": identity} | ({"speaker": by} if by else {})
        receipt = await self._erasure.erase(await self._publish(workspace, session, str(uuid.uuid4()), body))
        complete = replace(
            receipt,
            versions=max(receipt.versions, versions),
            messages=max(receipt.messages, versions),
            contexts=max(receipt.contexts, contexts),
        )
        return receipt_json(complete)

    async def apply(self, breadcrumb: Breadcrumb) -> None:
        """Erase for the worker what a tombstone or a secret removes, and the secret's own message.

        A tombstone erases earlier versions under the secret's id. It outlives the secret's message: other workers and rebuilt
        stores read it, and after a crash its delivery repeats the erasure.
        """
        if breadcrumb.kind != "secret":
            await self._erasure.erase_in_order(breadcrumb)
            return
        if not await self._is_new(breadcrumb):
            identity = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{breadcrumb.workspace}:{breadcrumb.id}:{breadcrumb.version}"))
            body = {"breadcrumb_id": breadcrumb.id}
            await self._erasure.erase(await self._publish(breadcrumb.workspace, breadcrumb.session, identity, body))
        await self._archive.delete_at(breadcrumb.place, breadcrumb.workspace, breadcrumb.session)

    async def discard(self, copy: Breadcrumb) -> None:
        """Delete the message of a copy of what was erased before."""
        await self._archive.delete_at(copy.place, copy.workspace, copy.session)

    async def follow(self) -> int:
        """Erase here for each tombstone since the last call, whichever worker took it; returns how many.

        A store that never followed begins at the end: what it remembers later is no longer in the stream.
        """
        async with self._lock:
            if not self._reached.incarnation:  # later, another worker's position in a shared store is not this one's
                self._reached = await self._log.store.watermark(*LAST_TOMBSTONE)
            last, number = await self._log.last(), 0
            while self._repeats and self._repeats[0][0] <= self._clock():
                await self._erasure.erase_here(self._repeats[0][1])
                self._repeats.popleft()
            if self._reached.incarnation:
                async for message, tombstone in self._log.readable(self._log.tombstones(self._reached, last.next)):
                    if tombstone.removes:
                        await self._erasure.erase_here(tombstone)
                        self._repeats.append((self._clock() + REPEAT_SECONDS, tombstone))
                        number += 1
                    self._reached = message.place
            self._reached = max(self._reached, last)
            position = self._repeats[0][1].place.previous if self._repeats else self._reached
            await self._log.store.advance(*LAST_TOMBSTONE, position)
            return number

    async def _is_new(self, secret: Breadcrumb) -> bool:
        """Whether its version, and the one before, are stored as secrets: then nothing readable has this id.

        An unknown earlier version counts as readable: stream and dead letters may hold one that was rejected.
        """
        versions = {secret.version, max(secret.version - 1, 1)}
        rows = [await self._log.store.facts(replace(secret, version=version)) for version in versions]
        return all(row is not None and row.breadcrumb.kind in {"secret", "erased"} for row in rows)

    async def _publish(self, workspace: str, session: str, identity: str, body: dict[str, Any]) -> Breadcrumb:
        event = outgoing(make_record(TOMBSTONE, identity, session, body), workspace)
        return await self._log.read(await self._sender.send(event.subject, event.data, event.message_id))
