"""Forgetting: requests become tombstones, and every worker erases for each tombstone that it takes or reads.

All tombstones of a request are published before anything is erased: from then on each worker, also one that starts after a
crash, knows all that is to go.
"""

import asyncio
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from builder.domain.breadcrumb import ORIGIN, SUMMARY, TOMBSTONE, Breadcrumb
from builder.domain.erasure import Receipt
from builder.domain.errors import Rejected
from builder.domain.json_values import JsonObject
from builder.domain.recall import EVERY_SESSION
from builder.ports.stream import Sender
from builder.wire.records import make_record, outgoing
from builder.worker.erasure import OF_NEW_SECRET, Erasure, Tombstones, by_workspace
from builder.worker.log import Log

LAST_TOMBSTONE = ("", "context-builder-tombstones")
"""Key of the ledger under which the last tombstone is noted."""
AT_ONCE = 1_000
"""Tombstones that are erased together."""
SENT_AT_ONCE = 100
"""Tombstones whose storage is awaited together."""
REPEAT_SECONDS = 60.0
"""After which a tombstone is followed once more: a delivery or a walk may have read the message before another worker deleted it,
and remembered it since; and a job may have made something of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target of forgetting: an id of a session, and the number of its versions that the store has."""

    session: str
    id: str
    versions: int = 0


class Forgetting:
    """Publishes tombstones, and erases for those that it reads. All methods raise `Unavailable`."""

    def __init__(self, log: Log, erasure: Erasure, sender: Sender, clock: Callable[[], float] = monotonic) -> None:
        self._log = log
        self._erasure = erasure
        self._sender = sender
        self._clock = clock
        self._reached = ORIGIN
        self._lock = asyncio.Lock()
        self._repeats: deque[tuple[float, Breadcrumb]] = deque()
        """When to follow each tombstone once more, in order; the ledger stays before them."""

    async def request(self, workspace: str, targets: Sequence[Target], by: str) -> tuple[Receipt, ...]:
        """Forget these; a receipt each, in order. Raises `Rejected`.

        Contexts are counted before the tombstones are published: another worker may take them, and erase at the same time.
        """
        if not targets:
            return ()
        contexts = await self._erasure.contexts.count(workspace, frozenset(target.id for target in targets))
        async with self._erasure.publishing:
            tombstones = await self._publish_all(workspace, targets, by)
            self._erasure.begin(tombstones)
        receipts = await self._erasure.erase(tombstones)
        return tuple(
            replace(
                receipt,
                versions=max(receipt.versions, target.versions),
                messages=max(receipt.messages, target.versions),
                contexts=max(receipt.contexts, contexts.pop(target.id, 0)),
            )
            for target, receipt in zip(targets, receipts, strict=True)
        )

    async def _publish_all(self, workspace: str, targets: Sequence[Target], by: str) -> Tombstones:
        signed = {"speaker": by} if by else {}
        tombstones: list[Breadcrumb] = []
        for start in range(0, len(targets), SENT_AT_ONCE):
            some = [
                self._publish(workspace, target.session, str(uuid.uuid4()), {"breadcrumb_id": target.id} | signed)
                for target in targets[start : start + SENT_AT_ONCE]
            ]
            tombstones += await asyncio.gather(*some)
        return tuple(tombstones)

    async def apply(self, breadcrumb: Breadcrumb) -> None:
        """Erase for the worker what a tombstone or a secret removes, and the secret's own message. Raises `Rejected`.

        A secret leaves a tombstone, which closes its id. It outlives the secret's message: other workers and rebuilt stores read
        it, and after a crash its delivery repeats the erasure. What came before in another session keeps its id.
        """
        if breadcrumb.kind == "moved":
            return
        if breadcrumb.kind != "secret":
            await self._erasure.erase_in_order(breadcrumb, self._behind)
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
            await self._erasure.erase((tombstone,))
        await self._erasure.archive.delete_at(breadcrumb.place, workspace, breadcrumb.session)

    async def discard(self, copy: Breadcrumb) -> None:
        """Delete the message of a copy of what was erased before, and of a summary of it, which the store did not take.

        Not if what closed its id has made way meanwhile to something that stands before both.
        """
        await self._log.catch_up(copy.workspace, EVERY_SESSION, copy.place.next)
        there = (await self._log.store.identities(copy.workspace, (copy.id,)))[copy.id]
        stored = await self._log.store.facts(copy)
        is_erased = stored.breadcrumb.is_erased if stored else copy.schema == SUMMARY
        if there.is_closed(copy) or is_erased:
            await self._erasure.archive.delete_at(copy.place, copy.workspace, copy.session)

    async def follow(self) -> int:
        """Erase here for each tombstone since the last call, whichever worker took it; returns how many.

        A store that never followed begins at the end: what it remembers later is no longer in the stream.
        """
        async with self._lock:
            if not self._reached.incarnation:  # later, another worker's position in a shared store is not this one's
                self._reached = await self._log.store.watermark(*LAST_TOMBSTONE)
            last, tombstones = await self._log.last(), list[Breadcrumb]()
            due = [tombstone for moment, tombstone in self._repeats if moment <= self._clock()]
            await self._erasure.erase_again(due)
            for _ in due:
                self._repeats.popleft()
            if self._reached.incarnation:
                walk = self._log.readable(self._log.tombstones(self._reached, last.next))
                tombstones = [tombstone async for _, tombstone in walk if tombstone.removes]
            for _, group in by_workspace(tombstones):
                await self._erasure.erase_here(group)
            self._repeats += ((self._clock() + REPEAT_SECONDS, tombstone) for tombstone in tombstones)
            self._reached = max(self._reached, last)
            position = self._repeats[0][1].place.previous if self._repeats else self._reached
            await self._log.store.advance(*LAST_TOMBSTONE, position)
            return len(tombstones)

    async def _behind(self, tombstone: Breadcrumb) -> Tombstones:
        """The tombstones of the workspace that came after this one and stand: one request, or what waited for a restart.

        Read until no more come: another worker may be publishing them just now, and each group costs a walk of the streams.
        """
        workspace, tombstones, reached = tombstone.workspace, list[Breadcrumb](), ORIGIN
        while reached < (last := [tombstone, *tombstones][-1].place) and len(tombstones) < AT_ONCE:
            reached = last
            walk = self._log.walk(workspace, EVERY_SESSION, reached, (await self._log.last()).next, TOMBSTONE)
            async for _, each in self._log.readable(walk):
                tombstones.append(each)
                if len(tombstones) == AT_ONCE:
                    break
        sessions = {each.session: each.place for each in tombstones}
        for session, place in sessions.items():
            await self._log.catch_up(workspace, session, place.next)
        store = self._log.store
        facts = [await store.facts(each) for each in tombstones]
        return tuple(each for each, row in zip(tombstones, facts, strict=True) if row and row.breadcrumb.place == each.place)

    async def _publish(self, workspace: str, session: str, identity: str, body: JsonObject) -> Breadcrumb:
        event = outgoing(make_record(TOMBSTONE, identity, session, body), workspace)
        return await self._log.read(await self._sender.send(event.subject, event.data, event.message_id))
