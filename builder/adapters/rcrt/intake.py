"""Records of RCRT → breadcrumbs, each version once: from events, from thin events, and from listings of what no event said.

An event says that a record changed; the record itself is always fetched whole, because events leave out its hints, its lifetime
and whether it is secret. Fetches run side by side, breadcrumbs are published in the order of the events.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from builder.adapters.rcrt.ledger import Entry, Ledger
from builder.adapters.rcrt.records import CHAT_TAG, Change, breadcrumb, is_secret_record, read_change, tombstone
from builder.adapters.rcrt.rest import RcrtApi
from builder.domain.breadcrumb import AGENT_CONTEXT
from builder.domain.errors import BuilderError, Rejected, Unavailable
from builder.remember.record import SECRET_SCHEMA
from builder.wire.records import Outgoing
from builder.wire.subjects import is_token, parse_breadcrumb_subject
from builder.worker.jobs import UnexpectedError, guard

log = logging.getLogger("builder.rcrt")

FETCHES = 16
"""Records that are fetched at once."""
FAILURES, WAIT_SECONDS = 2, 0.5
"""Failures on one record while RCRT answers other requests, after which only a listing brings it; and the pause between two."""
UNKEPT = frozenset({AGENT_CONTEXT, SECRET_SCHEMA})
"""Schemas whose records are never fetched."""
Publish = Callable[[Outgoing, bool], Awaitable[None]]
"""Event, and whether it is only stored. Raises `Rejected` and `Unavailable`."""
Beat = Callable[[], Awaitable[None]]
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Item:
    """An event that waits for its turn."""

    change: Change
    record: asyncio.Task[Record | None]
    settle: Beat
    beat: Beat
    """Tells the broker that it is in work."""


class Intake:
    """`run` settles what `hear` was given; `catch_up` looks for what nobody said."""

    def __init__(
        self,
        api: RcrtApi,
        ledger: Ledger,
        publish: Publish,
        max_age: timedelta,
        listener: Callable[[Change], None],
    ) -> None:
        """max_age: an older record triggers nothing. listener: called with each event before it is fetched."""
        self._api = api
        self._ledger = ledger
        self._publish = publish
        self._max_age = max_age
        self._listener = listener
        self._workspaces = dict[str, None]()
        """Owners that were heard of, in their order."""
        self._joined = set[str]()
        """Owners of whom all is in that RCRT held when they were first heard of."""
        self._foreign = dict[str, int]()
        """Id → version of listed records whose owners are not known."""
        self._queue = deque[_Item]()
        self._arrived = asyncio.Event()
        self._fetches = asyncio.Semaphore(FETCHES)
        self._turn, self._listing = asyncio.Lock(), asyncio.Lock()
        self._waiting: Callable[[], Awaitable[frozenset[str]]] = _nothing
        self._has_listed = False

    @property
    def free(self) -> int:
        """Events that may come: none before the first listing, because what it brings is older."""
        return max(0, 4 * FETCHES - len(self._queue)) if self._has_listed else 0

    async def hear(self, data: bytes, settle: Beat, beat: Beat) -> None:
        """An event. settle: called when its record is in."""
        try:
            change = read_change(data)
        except Rejected as error:
            log.warning("an event is left out: %s", error)
            await settle()
            return
        self._listener(change)
        if change.schema in UNKEPT:
            await settle()
            return
        self._queue.append(_Item(change, asyncio.create_task(self._fetched(change)), settle, beat))
        self._arrived.set()

    async def run(self, freed: Callable[[], None], waiting: Callable[[], Awaitable[frozenset[str]]]) -> None:
        """Settle events in their order until cancelled.

        freed: called when more may come. waiting: ids of records whose events have not been settled; raises `Unavailable`.
        """
        self._waiting = waiting
        while True:
            self._arrived.clear()
            while self._queue:
                try:
                    await guard(self._settle(self._queue[0]), log, "a record of RCRT")
                except (BuilderError, UnexpectedError) as error:  # the broker delivers its event again
                    log.warning("record %s waits: %s", self._queue[0].change.id, error)
                self._queue.popleft()
                freed()
            await self._arrived.wait()

    async def beat(self) -> None:
        """Tell the broker that all that wait are in work."""
        for item in tuple(self._queue):
            await item.beat()

    async def _settle(self, item: _Item) -> None:
        record, change, failures = item.record, item.change, 0
        while failures < FAILURES:
            try:
                if not await self._has_joined(change.workspace):
                    await self.catch_up(whole=True, workspace=change.workspace)
                await self._take(change, await record, replay=False)
                break
            except Rejected as error:
                log.warning("record %s is left out: %s", change.id, error)
                break
            except Unavailable as error:
                log.warning("record %s and all after it wait: %s", change.id, error)
                failures += await self._api.is_up()  # it may fail on this record alone, and a listing brings it again
                await asyncio.sleep(WAIT_SECONDS)
                record = asyncio.create_task(self._fetched(change))
        await item.settle()

    async def _fetched(self, change: Change) -> Record | None:
        """The record; None when it is in, is never kept, or is gone. Raises `Unavailable`."""
        entry = await self._ledger.entry(change.id)
        if entry and change.version and entry.version >= change.version:
            return None
        async with self._fetches:
            record = await self._record(change)
        if record is None:
            if entry:
                await self._delete(change.id, entry)
            elif not change.workspace:
                self._foreign[change.id] = change.version
            return None
        # The record may have changed since: what the event says is this version.
        return record | dict(change.own or {})

    async def _record(self, change: Change) -> Record | None:
        for workspace in (change.workspace,) if change.workspace else tuple(self._workspaces):
            record = await self._api.record(change.id, workspace)
            if record is not None:
                return record
        return None

    async def _take(self, change: Change, record: Record | None, *, replay: bool) -> None:
        """Publish a record if no version as new is in."""
        if record is None:
            return
        async with self._turn:
            entry = await self._ledger.entry(change.id)
            workspace, version = str(record["owner_id"]), record["version"]
            if entry and entry.version >= version:
                return
            by_extension = CHAT_TAG in (record.get("tags") or ())
            news = Entry(version=version, workspace=workspace, created_at=record["created_at"], by_extension=by_extension)
            try:
                if not is_secret_record(record) and record.get("schema_name") != AGENT_CONTEXT:
                    news = replace(news, session=await self._published(record, entry, replay=replay))
            except Rejected:
                await self._ledger.note(change.id, news)
                raise
            await self._ledger.note(change.id, news)

    async def _published(self, record: Record, entry: Entry | None, *, replay: bool) -> str:
        """The session's token."""
        is_old = replay or datetime.now(UTC) - datetime.fromisoformat(record["created_at"]) >= self._max_age
        # Only a first version triggers, and it may be one that nobody said.
        version = record["version"] if entry or is_old else 1
        translation = breadcrumb(record, version=version)
        for failure in translation.failures:
            log.warning("hints of record %s are not followed: %s", record["id"], failure)
        await self._publish(translation.event, is_old)
        return parse_breadcrumb_subject(translation.event.subject).session

    async def _delete(self, identity: str, entry: Entry) -> None:
        async with self._turn:
            if entry.session:
                await self._publish(tombstone(identity, entry.workspace, entry.session), False)
            await self._ledger.drop(identity)

    async def catch_up(self, *, whole: bool, workspace: str = "") -> None:
        """List what RCRT holds, and take what is not in. Raises `Unavailable`.

        whole: to the end, deletions too; else until a page brings nothing new. workspace: one that is heard of anew.
        """
        async with self._listing:
            self._workspaces |= {self._api.workspace: None} | ({workspace: None} if workspace else {})
            strangers = [each for each in self._workspaces if not await self._has_joined(each)]
            if strangers:
                self._foreign.clear()
            missing, seen = list[Change](), set[str]()
            async for page in self._api.changes():
                seen |= {change.id for change in page}
                news = [change for change in page if await self._is_new(change)]
                missing += news
                if not (whole or strangers or news):
                    break
            waiting = await self._waiting() | {item.change.id for item in self._queue}
            for change in reversed(missing):  # oldest change first
                if change.id not in waiting:
                    await self._catch(change, frozenset(strangers))
            for stranger in strangers:
                await self._ledger.join(stranger)
                self._joined.add(stranger)
            if not self._has_listed:
                log.info("RCRT is listed for the first time: %d records were not in", len(missing))
            self._has_listed = True
            if whole:
                await self._drop_missing(seen)

    async def _has_joined(self, workspace: str) -> bool:
        if workspace not in self._joined and await self._ledger.has_joined(workspace):
            self._joined.add(workspace)
        return workspace in self._joined

    async def _drop_missing(self, seen: set[str]) -> None:
        """Delete what RCRT no longer holds; a page may miss a record that moves meanwhile."""
        for identity in await self._ledger.ids() - seen:
            entry = await self._ledger.entry(identity)
            if entry and await self._api.record(identity, entry.workspace) is None:
                await self._delete(identity, entry)

    async def _is_new(self, change: Change) -> bool:
        if change.schema in UNKEPT or not is_token(change.id):
            return False
        if self._foreign.get(change.id, 0) >= change.version:
            return False
        entry = await self._ledger.entry(change.id)
        return entry is None or entry.version < change.version

    async def _catch(self, change: Change, strangers: frozenset[str]) -> None:
        try:
            record = await self._fetched(change)
            await self._take(change, record, replay=record is not None and record["owner_id"] in strangers)
        except Rejected as error:
            log.warning("record %s is left out: %s", change.id, error)
        except Unavailable as error:
            if not await self._api.is_up():
                raise
            log.warning("record %s cannot be read, and is tried again: %s", change.id, error)


async def _nothing() -> frozenset[str]:
    return frozenset()
