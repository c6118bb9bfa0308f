"""Forgetting: a request becomes a tombstone in the session of its breadcrumb, and every worker follows every tombstone."""

import asyncio
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

from builder.domain.breadcrumb import ORIGIN, TOMBSTONE, Breadcrumb
from builder.ports.broker import Archive, Sender
from builder.wire.records import make_record, outgoing
from builder.wire.requests import receipt_json
from builder.worker.erasure import Erasure
from builder.worker.log import Log

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

    async def follow(self) -> int:
        """Erase here for each tombstone since the last call, whichever worker took it; returns how many.

        A store that never followed begins at the end: what it remembers later is no longer in the stream.
        """
        async with self._lock:
            self._reached = max(self._reached, await self._log.store.watermark(*LAST_TOMBSTONE))
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
