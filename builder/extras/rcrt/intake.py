"""Records of RCRT → breadcrumbs, each version once: from events, from thin events, and from listings of what no event said.

An event says that a record changed; the record itself is always fetched whole, because events leave out its hints, its lifetime
and whether it is secret. Fetches run side by side; breadcrumbs of one owner are published in the order of their events, and no
owner waits for another.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from nats.aio.msg import Msg

from builder.domain.breadcrumb import AGENT_CONTEXT
from builder.domain.errors import BuilderError, Rejected, Unavailable
from builder.extras.rcrt import records as rcrt_records
from builder.extras.rcrt.ledger import Entry, Ledger
from builder.extras.rcrt.records import CHAT_TAG, CONTEXT_LIFETIME, Change, breadcrumb, is_secret_record, read_change
from builder.extras.rcrt.rest import RcrtApi
from builder.extras.rcrt.settling import settle
from builder.remember.secrecy import SECRET_SCHEMA
from builder.wire.records import Outgoing
from builder.wire.subjects import is_token, parse_breadcrumb_subject
from builder.worker.jobs import UnexpectedError, guard

log = logging.getLogger("builder.rcrt")

FETCHES = 32
"""Records that are fetched at once."""
FAILURES, WAIT_SECONDS = 3, 0.5
"""Failures on one record while RCRT answers other requests, after which only a listing brings it; and the pause between two."""
UNKEPT = frozenset({AGENT_CONTEXT, SECRET_SCHEMA})
"""Schemas whose records are never fetched."""
Publish = Callable[[Outgoing, bool], Awaitable[None]]
"""Event, and whether it is only stored. Raises `Rejected` and `Unavailable`."""
Record = dict[str, Any]
GONE: Record = {}
"""In place of a record that its owner no longer has."""


@dataclass(frozen=True, slots=True)
class _Item:
    """An event that waits for its turn."""

    change: Change
    record: asyncio.Task[Record | None]
    message: Msg | None


class Intake:
    """`run` publishes the records of events in their order; `catch_up` looks for what no event said."""

    def __init__(self, api: RcrtApi, ledger: Ledger, publish: Publish, listener: Callable[[Change], None]) -> None:
        """listener: called with each event before its record is fetched."""
        self._api = api
        self._ledger = ledger
        self._publish = publish
        self._listener = listener
        self._workspaces = {api.workspace: None}
        """Owners that are known, in the order in which they were heard of."""
        self._joined = set[str]()
        """Owners of whom all is stored that RCRT held when they were first heard of."""
        self._left_out = dict[str, int]()
        """Id → version of listed records that cannot be read, or whose owners are not known."""
        self._queue = deque[_Item]()
        self._arrived = asyncio.Event()
        self._fetches = asyncio.Semaphore(FETCHES)
        self._turn, self._listing = asyncio.Lock(), asyncio.Lock()
        self._waiting: Callable[[], Awaitable[frozenset[str]]] = _nothing
        self._has_listed = False

    @property
    def free(self) -> int:
        """Events that may come: none before the first listing, because what it brings is older."""
        return max(0, 2 * FETCHES - len(self._queue)) if self._has_listed else 0

    @property
    def messages(self) -> tuple[Msg | None, ...]:
        """Events that have not been settled."""
        return tuple(item.message for item in self._queue)

    async def hear(self, data: bytes, message: Msg | None) -> None:
        """An event. message: settled when its record is stored."""
        try:
            change = read_change(data)
        except Rejected as error:
            log.warning("an event is left out: %s", error)
            await settle(message, "ack")
            return
        self._listener(change)
        if change.schema in UNKEPT:
            await settle(message, "ack")
            return
        # A new record is announced twice.
        twins = [item.record for item in self._queue if change.version and item.change == change]
        self._queue.append(_Item(change, twins[0] if twins else asyncio.create_task(self._fetched(change)), message))
        self._arrived.set()

    async def run(self, freed: Callable[[], None], waiting: Callable[[], Awaitable[frozenset[str]]]) -> None:
        """Publish until cancelled.

        freed: called when more may come. waiting: ids of records whose events have not been settled; raises `Unavailable`.
        """
        self._waiting = waiting
        lanes: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                self._arrived.clear()
                for workspace in {item.change.workspace for item in self._queue}:
                    if workspace not in lanes or lanes[workspace].done():
                        lanes[workspace] = group.create_task(self._store_all(workspace, freed))
                await self._arrived.wait()

    async def _store_all(self, workspace: str, freed: Callable[[], None]) -> None:
        """The events of one owner that wait, in their order."""
        while item := next((item for item in self._queue if item.change.workspace == workspace), None):
            try:
                await guard(self._store(item), log, "a record of RCRT")
                await settle(item.message, "ack")
            except UnexpectedError:  # its traceback is in the log, and another attempt would end the same way
                await settle(item.message, "ack")
            except BuilderError as error:  # the broker delivers the event again
                log.warning("record %s waits: %s", item.change.id, error)
            self._queue.remove(item)
            freed()
        self._arrived.set()  # what came while the last one was stored

    async def _store(self, item: _Item) -> None:
        record, change = item.record, item.change
        for _ in range(FAILURES):
            try:
                if not await self._has_joined(change.workspace):
                    await self.catch_up(whole=True, workspace=change.workspace)
                await self._take(change, await record, replay=False)
            except Rejected as error:
                log.warning("record %s is left out: %s", change.id, error)
            except Unavailable as error:
                log.warning("record %s and those of its owner after it wait: %s", change.id, error)
                while not await self._api.is_up():
                    await asyncio.sleep(WAIT_SECONDS)
                await asyncio.sleep(WAIT_SECONDS)
                record = self._fetched_anew(item)
                continue
            return
        log.warning("record %s cannot be read, and waits for the next listing", change.id)

    def _fetched_anew(self, item: _Item) -> "asyncio.Task[Record | None]":
        """Fetch again, once for all events that wait for the fetch that failed."""
        record = asyncio.create_task(self._fetched(item.change))
        for number, other in enumerate(self._queue):
            if other is not item and other.change == item.change:
                self._queue[number] = replace(other, record=record)
        return record

    async def _fetched(self, change: Change) -> Record | None:
        """The record; GONE; None when it is stored already. Raises `Unavailable`."""
        entry = await self._ledger.entry(change.id)
        if entry and change.version and entry.version >= change.version:
            return None
        for workspace in (change.workspace,) if change.workspace else tuple(self._workspaces):
            async with self._fetches:
                record = await self._api.record(change.id, workspace)
            if record is not None:
                # The record may have changed since: what the event says is this version.
                return record | dict(change.own or {})
        return GONE

    async def _take(self, change: Change, record: Record | None, *, replay: bool) -> None:
        """Publish the record if no version as new is stored."""
        async with self._turn:
            entry = await self._ledger.entry(change.id)
            if record is None or (record and entry and entry.version >= record["version"]):
                return
            if not record:
                await self._delete(change, entry)
                return
            news = Entry(
                version=record["version"], workspace=str(record["owner_id"]), created_at=record["created_at"],
                by_extension=CHAT_TAG in (record.get("tags") or ()),
            )  # fmt: skip
            try:
                session = await self._published(record, entry, replay=replay)
            except Rejected:
                await self._ledger.note(change.id, news)
                raise
            await self._ledger.note(change.id, replace(news, session=session))

    async def _published(self, record: Record, entry: Entry | None, *, replay: bool) -> str:
        """The session's token; empty when nothing of the record may be kept."""
        is_old = replay or datetime.now(UTC) - datetime.fromisoformat(record["created_at"]) >= CONTEXT_LIFETIME
        session, translation = "", None
        if not is_secret_record(record) and record.get("schema_name") not in UNKEPT:
            # Only a first version triggers, and it may be one that no event said.
            translation = breadcrumb(record, version=record["version"] if entry or is_old else 1)
            session = parse_breadcrumb_subject(translation.event.subject).session
        if entry and entry.session not in ("", session):  # it became a secret, or moved to another session
            end = rcrt_records.tombstone(record["id"], entry)
            note = rcrt_records.move_note(record["id"], entry, session) if session else end
            await self._publish(note, False)
        if translation is not None:
            for failure in translation.failures:
                log.warning("hints of record %s are not followed: %s", record["id"], failure)
            await self._publish(translation.event, is_old)
        return session

    async def _delete(self, change: Change, entry: Entry | None) -> None:
        """A record that is gone, or that no known owner has."""
        if entry is None:
            if not change.workspace:
                self._left_out[change.id] = change.version
            return
        if entry.session:
            await self._publish(rcrt_records.tombstone(change.id, entry), False)
        await self._ledger.drop(change.id)

    async def catch_up(self, *, whole: bool, workspace: str = "") -> None:
        """List what RCRT holds, and take what is not stored. Raises `Unavailable`.

        whole: to the end, deletions too; else until a page brings nothing new. workspace: an owner that is heard of anew.
        """
        async with self._listing:
            names = {workspace} - {""} | (set() if self._has_listed else await self._ledger.workspaces())
            self._workspaces |= dict.fromkeys(sorted(names))
            strangers = frozenset([each for each in self._workspaces if not await self._has_joined(each)])
            if strangers:
                self._left_out.clear()
            missing, listed = await self._missing(whole=whole or bool(strangers))
            waiting = await self._waiting() | {item.change.id for item in self._queue}
            # The oldest change comes first.
            await self._take_all([change for change in reversed(missing) if change.id not in waiting], strangers)
            for stranger in strangers:
                await self._ledger.join(stranger)
                self._joined.add(stranger)
            if not self._has_listed:
                log.info("RCRT is listed for the first time: %d records were not stored", len(missing))
            self._has_listed = True
            if whole:
                gone = await self._ledger.ids() - listed
                await self._take_all([Change(id=each, workspace=entry.workspace) for each in gone
                                      if (entry := await self._ledger.entry(each))], strangers)  # fmt: skip

    async def _missing(self, *, whole: bool) -> tuple[list[Change], set[str]]:
        """The changes that are not stored, the newest first, and the ids of all that RCRT lists. whole: as in `catch_up`."""
        missing, listed = list[Change](), set[str]()
        async for page in self._api.changes():
            listed |= {change.id for change in page}
            news = [change for change in page if await self._is_new(change)]
            missing += news
            if not (whole or news):
                break
        return missing, listed

    def begin_again(self) -> None:
        """The ledger is lost: what RCRT holds now is history, as at the first start."""
        self._joined.clear()
        self._has_listed = False

    async def _has_joined(self, workspace: str) -> bool:
        if workspace not in self._joined and await self._ledger.has_joined(workspace):
            self._joined.add(workspace)
        return workspace in self._joined

    async def _is_new(self, change: Change) -> bool:
        if change.schema in UNKEPT or not is_token(change.id) or self._left_out.get(change.id, 0) >= change.version:
            return False
        entry = await self._ledger.entry(change.id)
        return entry is None or entry.version < change.version

    async def _take_all(self, changes: list[Change], strangers: frozenset[str]) -> None:
        """Fetch some at once, and publish them in their order. One that cannot be read stops no other. Raises `Unavailable`."""
        for first in range(0, len(changes), FETCHES):
            some = changes[first : first + FETCHES]
            records = await asyncio.gather(*map(self._fetched, some), return_exceptions=True)
            for change, record in zip(some, records, strict=True):
                try:
                    await guard(self._take_listed(change, record, strangers), log, "a listed record of RCRT")
                except (BuilderError, UnexpectedError) as error:
                    if isinstance(error, Unavailable) and not await self._api.is_up():
                        raise
                    log.warning("record %s is left out: %s", change.id, error)
                    if not isinstance(error, Unavailable):
                        self._left_out[change.id] = change.version

    async def _take_listed(self, change: Change, record: Record | BaseException | None, strangers: frozenset[str]) -> None:
        if isinstance(record, BaseException):
            raise record
        await self._take(change, record, replay=record is not None and record.get("owner_id") in strangers)


async def _nothing() -> frozenset[str]:
    return frozenset()
