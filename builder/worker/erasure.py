"""Erasure: a tombstone erases all that was made from its breadcrumb, in stream, store, caches, contexts and dead letters.

A request to forget becomes a tombstone in the session of its breadcrumb, and every worker follows every tombstone. Every step may
be repeated. Superseding erases nothing: an older version is history, which `as of` an earlier position still needs.
"""

import asyncio
import json
import logging
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from time import monotonic
from typing import Any

from cachetools import LRUCache

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, TOMBSTONE, Breadcrumb, Place
from builder.domain.errors import Rejected
from builder.domain.recall import EVERY_SESSION
from builder.domain.reports import Receipt
from builder.ports.broker import Archive, Sender
from builder.ports.store import PendingStubs
from builder.wire.records import make_record, outgoing
from builder.wire.requests import receipt_json
from builder.worker.log import Log, StoredLog

log = logging.getLogger("builder.worker.erasure")

OF_NEW_SECRET = "secret"  # noqa: S105 - a reason
"""Reason of a tombstone that a secret leaves under whose id nothing readable stood."""
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

        A run that began before may have missed what came meanwhile: then all of it is done a second time.
        """
        is_repeat = tombstone.place in self._runs
        if await self._is_bare(tombstone):
            return
        await self.erase(tombstone)
        if is_repeat:
            await self.erase_again((tombstone,))

    async def erase_again(self, tombstones: Iterable[Breadcrumb]) -> None:
        """Erase what was remembered, derived or published since, here and in the streams; one walk of these a workspace."""
        by_workspace: dict[str, set[str]] = {}
        for tombstone in tombstones:
            _, summaries, _ = await self.erase_here(tombstone)
            if not (await self._is_bare(tombstone) or await self._stray(tombstone)):
                await self._delete_later(tombstone, summaries)
                ids = by_workspace.setdefault(tombstone.workspace, set())
                ids |= {tombstone.removes, *(summary.id for summary in summaries)}
        for workspace, ids in by_workspace.items():
            await self.archive.delete_letters(workspace, NO_SESSION, frozenset(ids))
            await self.contexts.replace(workspace, frozenset(ids))

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
        messages += await self._delete_later(tombstone, summaries)
        is_stray = await self._stray(tombstone)
        letters = await self.archive.delete_letters(workspace, session if is_stray else NO_SESSION, ids)
        contexts = 0 if is_stray else await self.contexts.replace(workspace, ids)
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

    async def _is_bare(self, tombstone: Breadcrumb) -> bool:
        """Whether it closes the id of a secret under which nothing readable ever stood: there is nothing to search for."""
        workspace, name = tombstone.workspace, tombstone.removes
        if json.loads(tombstone.body).get("reason") != OF_NEW_SECRET:
            return False
        first = (await self._log.store.identities(workspace, (name,)))[name].first
        return all(first and trace.place == first.place for trace in await self._log.store.traces(workspace, name))

    async def _stray(self, tombstone: Breadcrumb) -> bool:
        """Whether what it names belongs to another session: it erases nothing of that."""
        identities = await self._log.store.identities(tombstone.workspace, (tombstone.removes,))
        return bool(identities[tombstone.removes].stray(tombstone))

    async def _delete_later(self, tombstone: Breadcrumb, summaries: tuple[Breadcrumb, ...]) -> int:
        """Delete the messages of summaries, and of what its id had elsewhere or behind the tombstone; returns how many."""
        traces = await self._log.store.traces(tombstone.workspace, tombstone.removes)
        own = [trace for trace in traces if trace.id == tombstone.removes]
        late = [trace for trace in own if trace.place > tombstone.place or trace.session != tombstone.session]
        return sum(
            [await self.archive.delete_at(each.place, each.workspace, each.session, each.id) for each in (*summaries, *late)]
        )


LAST_TOMBSTONE = ("", "context-builder-tombstones")
"""Key of the ledger under which the last tombstone is noted."""
REPEAT_SECONDS = 60.0
"""After which a tombstone is followed once more: a delivery or a walk may have read the message before another worker deleted it,
and remembered it since; and a job may have made something of it."""


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
        """Erase for the worker what a tombstone or a secret removes, and the secret's own message. Raises `Rejected`.

        A secret leaves a tombstone, which closes its id. It outlives the secret's message: other workers and rebuilt stores read
        it, and after a crash its delivery repeats the erasure. What came before in another session keeps its id.
        """
        if breadcrumb.kind == "moved":
            return
        if breadcrumb.kind != "secret":
            await self._erasure.erase_in_order(breadcrumb)
            return
        workspace, name = breadcrumb.workspace, breadcrumb.id
        await self._log.catch_up(workspace, EVERY_SESSION, breadcrumb.place)
        there = (await self._log.store.identities(workspace, (name,)))[name]
        if reason := there.conflict(breadcrumb):
            raise Rejected(reason)
        # An unknown earlier version may stand in dead letters.
        is_new = breadcrumb.version == 1 and (there.first is None or there.first.place >= breadcrumb.place)
        identity = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{workspace}:{name}:{breadcrumb.version}"))
        body = {"breadcrumb_id": name} | ({"reason": OF_NEW_SECRET} if is_new else {})
        tombstone = await self._publish(workspace, breadcrumb.session, identity, body)
        if not is_new:
            await self._erasure.erase(tombstone)
        await self._archive.delete_at(breadcrumb.place, workspace, breadcrumb.session)

    async def discard(self, copy: Breadcrumb) -> None:
        """Delete the message of a copy of what was erased before.

        Not if what closed its id has made way meanwhile to something that stands before both.
        """
        await self._log.catch_up(copy.workspace, EVERY_SESSION, copy.place.next)
        there = (await self._log.store.identities(copy.workspace, (copy.id,)))[copy.id]
        stored = await self._log.store.facts(copy)
        if there.is_closed(copy) or (stored and stored.breadcrumb.is_erased):
            await self._archive.delete_at(copy.place, copy.workspace, copy.session)

    async def follow(self) -> int:
        """Erase here for each tombstone since the last call, whichever worker took it; returns how many.

        A store that never followed begins at the end: what it remembers later is no longer in the stream.
        """
        async with self._lock:
            if not self._reached.incarnation:  # later, another worker's position in a shared store is not this one's
                self._reached = await self._log.store.watermark(*LAST_TOMBSTONE)
            last, number = await self._log.last(), 0
            due = [tombstone for moment, tombstone in self._repeats if moment <= self._clock()]
            await self._erasure.erase_again(due)
            for _ in due:
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

    async def _publish(self, workspace: str, session: str, identity: str, body: dict[str, Any]) -> Breadcrumb:
        event = outgoing(make_record(TOMBSTONE, identity, session, body), workspace)
        return await self._log.read(await self._sender.send(event.subject, event.data, event.message_id))
