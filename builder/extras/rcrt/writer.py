"""Contexts → RCRT's records: one for each consumer and session, written once for each trigger and never over a later one."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from cachetools import LRUCache

from builder.domain.errors import Unavailable
from builder.extras.rcrt.ledger import Ledger
from builder.extras.rcrt.records import CONSUMER_TAG, SESSION_TAG, TRIGGER_TAG, Change, ContextRecord, context_record
from builder.extras.rcrt.rest import RcrtApi, StoredContext
from builder.recall.keyed_lock import KeyedLock
from builder.wire.subjects import is_token

log = logging.getLogger("builder.rcrt")

MAX_SESSIONS = 2_000
"""Sessions whose stored contexts are remembered."""
FAILURES = 3
"""Failed writes of one context while RCRT answers other requests."""
PAUSE_SECONDS, WAIT_SECONDS = 0.1, 1.0
"""After a conflict; and while RCRT is away."""
CREATION_SECONDS = 10.0
"""A creation whose key is used up may still be on its way into RCRT's store for so long."""

Stored = dict[str, StoredContext]
"""Consumer → its newest context."""


class ContextWriter:
    """Writes of one record wait for each other."""

    def __init__(self, api: RcrtApi, ledger: Ledger) -> None:
        self._api = api
        self._ledger = ledger
        self._stored: LRUCache[tuple[str, str], asyncio.Task[Stored]] = LRUCache(MAX_SESSIONS)
        self._denied: LRUCache[tuple[str, str], bool] = LRUCache(MAX_SESSIONS)
        """Owner and record that it may not replace: it is another owner's, or deleted."""
        self._locks = KeyedLock[tuple[str, str, str]]()

    def expect(self, change: Change) -> None:
        """A message has come: look for the contexts of its session while the page is made."""
        tags = (change.own or {}).get("tags") or ()
        tag = next((tag for tag in tags if isinstance(tag, str) and tag.startswith(SESSION_TAG)), "")
        if tag and (change.workspace, tag) not in self._stored:
            self._look(change.workspace, tag)

    async def write(self, data: bytes, *, again: bool) -> str:
        """Created, replaced, stored (by an earlier attempt) or late; waits while RCRT is away. again: as in `Writer`.

        Raises `Rejected`, and `Unavailable` when RCRT answers and does not take it.
        """
        record = context_record(data)
        tag = record.session_tag or f"{TRIGGER_TAG}{record.trigger}"
        async with self._locks.of((record.workspace, tag, record.consumer)):
            if again:
                self._look(record.workspace, tag)
            elif not record.session_tag:
                self._stored[record.workspace, tag] = asyncio.create_task(_nothing())
            for _ in range(FAILURES):
                try:
                    return await self._written(record, tag)
                except Unavailable as error:
                    log.warning("a context waits for RCRT: %s", error)
                    while not await self._api.is_up():
                        await asyncio.sleep(WAIT_SECONDS)
                    await asyncio.sleep(WAIT_SECONDS)
                    self._look(record.workspace, tag)
        raise Unavailable(f"RCRT answers, and does not take context {record.context_id}; look at its server's log")

    async def _written(self, record: ContextRecord, tag: str) -> str:
        conflicts = 0
        while True:
            if outcome := await self._attempt(record, tag, conflicts * PAUSE_SECONDS // CREATION_SECONDS):
                return outcome
            conflicts += 1
            await asyncio.sleep(PAUSE_SECONDS)
            self._look(record.workspace, tag)

    async def _attempt(self, record: ContextRecord, tag: str, number: float) -> str:
        """The outcome; empty when somebody else has written, so that the record must be read again."""
        stored = await self._of_session(record.workspace, tag)
        there = stored.get(record.consumer)
        now = datetime.now(UTC)
        entry = await self._ledger.entry(record.trigger)
        if there is None:
            body = record.created(now, by_extension=bool(entry and entry.by_extension))
            identity = await self._api.create(record.workspace, body, f"{record.key}-{number:.0f}")
            if identity:
                stored[record.consumer] = StoredContext.of(identity, 1, (), record.context)
            return "created" if identity else ""
        if there.head.get("trigger_event_id") == record.trigger:  # its own builder may have answered before us
            return "stored"
        if entry and await self._created(there.head) > _time(entry.created_at):
            return "late"
        status = await self._api.replace(record.workspace, there.id, there.version, record.updated(now))
        if status == HTTPStatus.OK:
            stored[record.consumer] = StoredContext.of(there.id, there.version + 1, (), record.context)
            return "replaced"
        if status != HTTPStatus.PRECONDITION_FAILED:
            self._denied[record.workspace, there.id] = True
        return ""

    async def _created(self, head: Mapping[str, Any]) -> float:
        """When the trigger of a stored context was created, else when it was assembled."""
        trigger = head.get("trigger_event_id")
        entry = await self._ledger.entry(trigger) if isinstance(trigger, str) and is_token(trigger) else None
        return _time(entry.created_at if entry else head.get("assembled_at"))

    def _look(self, workspace: str, tag: str) -> None:
        self._stored[workspace, tag] = task = asyncio.create_task(self._listed(workspace, tag))

        def forget(done: asyncio.Task[Stored]) -> None:
            if (done.cancelled() or done.exception()) and self._stored.get((workspace, tag)) is done:
                del self._stored[workspace, tag]

        task.add_done_callback(forget)

    async def _of_session(self, workspace: str, tag: str) -> Stored:
        if (workspace, tag) not in self._stored:
            self._look(workspace, tag)
        return await asyncio.shield(self._stored[workspace, tag])

    async def _listed(self, workspace: str, tag: str) -> Stored:
        stored: Stored = {}
        for each in await self._api.contexts(tag):
            # Another owner may have a session of this name. A context of another builder does not say whose it is.
            if (workspace, each.id) not in self._denied and each.head.get("workspace", workspace) == workspace:
                for consumer in (name.removeprefix(CONSUMER_TAG) for name in each.tags if name.startswith(CONSUMER_TAG)):
                    stored.setdefault(consumer, each)
        return stored


async def _nothing() -> Stored:
    return {}


def _time(text: object) -> float:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return 0.0
