"""The log: the stream of breadcrumbs as this worker has read it, and the store that it fills from it.

Before a context is built, everything earlier of its session is remembered. So any worker can take any session, and contexts are
the same whichever worker builds them.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from cachetools import LRUCache
from typing_extensions import override

from builder.domain.breadcrumb import AGENT_RESPONSE, NO_SESSION, ORIGIN, TOOL_REQUEST, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected, Unavailable
from builder.domain.profile import DEFINING_SCHEMAS, Definitions
from builder.domain.recall import EVERY_SESSION, Scope
from builder.ports.contexts import Publisher
from builder.ports.store import CallOrigin, CompleteStore, origins_of
from builder.ports.stream import Stream
from builder.recall.definitions import definitions_as_of
from builder.recall.keyed_lock import KeyedLock
from builder.remember.memory import decoded

MESSAGES_PER_WATERMARK = 256
"""Messages of a walk after which the watermark is raised, and calls that are noted at once."""
CALLS = "*calls"
"""In place of a session, the watermark up to which the calls of a workspace are noted. No session can have this name."""
CALLER_SCHEMAS = (AGENT_RESPONSE, TOOL_REQUEST)
BACKLOG = 4
"""When so many messages wait for definitions, the log reads up to the end of the stream once for all of them."""
MAX_WORKSPACES = 1_000
STREAM_END = Place(2**62, 0)
"""After every position."""


UTC_NOW = partial(datetime.now, UTC)


class StoredLog:
    """The log without its stream: nothing comes any more, and the store answers as it is."""

    def __init__(self, store: CompleteStore, now: Callable[[], datetime] = UTC_NOW) -> None:
        self.store = store
        self.now = now
        self.in_work: set[Place] = set()
        """Positions of the attempts that run in this process."""

    @property
    def busy(self) -> bool:
        """Whether this process works on a delivery."""
        return bool(self.in_work)

    async def last(self) -> Place:
        """The position of the newest message."""
        return STREAM_END

    async def catch_up(self, workspace: str, session: str, until: Place | None = None) -> int:  # noqa: ARG002 - see `Log`
        """Remember the session, or EVERY_SESSION, before a position; None = to the end. Returns the number of messages."""
        return 0

    async def definitions(self, workspace: str, place: Place, moment: datetime) -> Definitions:
        """The records before a position that define consumers and have not expired at the moment."""
        return unexpired(await definitions_as_of(self.store, workspace, place.previous), moment)

    def latest_definitions(self, workspace: str = "") -> Iterator[Definitions]:  # noqa: ARG002 - see `Log`
        """Those of the workspace that were read last, expired ones included; "" = of each workspace that was read."""
        return iter(())

    def drop(self, workspace: str) -> None:
        """Read the definitions of a workspace again: something was erased."""

    async def catch_up_session(self, workspace: str, session: str, place: Place) -> None:
        """Remember the session, and what belongs to none, up to and including a position."""
        for each in (NO_SESSION, session):
            await self.catch_up(workspace, each, place.next)


class Log(StoredLog):
    """Where the stream ends, what it says, and what of it is stored. All methods raise `Unavailable`."""

    def __init__(
        self,
        stream: Stream,
        store: CompleteStore,
        publisher: Publisher,
        decode: Callable[[StreamMessage], Breadcrumb],
        remember: Callable[[Breadcrumb], Awaitable[object]],
        max_attempts: int = 5,
        now: Callable[[], datetime] = UTC_NOW,
        *,
        of_records: bool = True,
    ) -> None:
        """decode: raises `Rejected`. of_records: whether records may define consumers."""
        super().__init__(store, now)
        self.get = stream.get
        self.newest = stream.newest
        self.walk = stream.walk
        self.tombstones = stream.tombstones
        self.max_attempts = max_attempts
        self._stream = stream
        self._publisher = publisher
        self._decode = decode
        self._remember = remember
        self._sessions = KeyedLock[tuple[str, str]]()
        self._definitions = _Definitions(self) if of_records else None

    @override
    async def last(self) -> Place:
        return await self._stream.last()

    @override
    async def definitions(self, workspace: str, place: Place, moment: datetime) -> Definitions:
        return unexpired(await self._definitions.before(workspace, place), moment) if self._definitions else ()

    @override
    def latest_definitions(self, workspace: str = "") -> Iterator[Definitions]:
        spans = tuple(self._definitions.spans.items()) if self._definitions else ()
        return (span.definitions for name, span in spans if workspace in ("", name))

    @override
    def drop(self, workspace: str) -> None:
        if self._definitions:
            self._definitions.spans.pop(workspace, None)

    async def read(self, message: StreamMessage) -> Breadcrumb:
        """The breadcrumb of a message. Raises `Rejected`."""
        return await decoded(self._decode, message)

    async def readable(self, messages: AsyncIterator[StreamMessage]) -> AsyncIterator[tuple[StreamMessage, Breadcrumb]]:
        """The messages that can be read, each with its breadcrumb."""
        async for message in messages:
            with contextlib.suppress(Rejected):
                yield message, await self.read(message)

    async def before(self, trigger: StreamMessage, scopes: tuple[Scope, ...]) -> None:
        """Remember everything before the trigger in these scopes, and what belongs to no session."""
        walks = {(scope.workspace, session): None for scope in scopes for session in (NO_SESSION, *scope.sessions)}
        for workspace, session in walks:
            if session == EVERY_SESSION or (workspace, EVERY_SESSION) not in walks:
                await self.catch_up(workspace, session, trigger.place)

    async def callers(self, answer: Breadcrumb) -> None:
        """Note who made which call before a tool result without a session: the call decides which session it joins.

        Call it before such a result is remembered. For everything else it does nothing.
        """
        if not answer.joins_by:
            return
        workspace, until = answer.workspace, answer.place
        async with self._sessions.of((workspace, CALLS)):
            after = max([await self.store.watermark(workspace, key) for key in (CALLS, EVERY_SESSION)])
            if after >= until.previous:
                return
            for schema in CALLER_SCHEMAS:
                origins: list[CallOrigin] = []
                async for _, caller in self.readable(self.walk(workspace, EVERY_SESSION, after, until, schema)):
                    origins += origins_of(caller)
                    if len(origins) >= MESSAGES_PER_WATERMARK:
                        await self.store.add_call_origins(tuple(origins))
                        origins.clear()
                await self.store.add_call_origins(tuple(origins))
            await self.store.advance(workspace, CALLS, until.previous)

    async def moves(self, version: Breadcrumb) -> None:
        """Before a later version: remember what belongs to no session, which may say that its breadcrumb moved."""
        if version.version > 1 and version.session != NO_SESSION:
            await self.catch_up(version.workspace, NO_SESSION, version.place)

    @override
    async def catch_up(self, workspace: str, session: str, until: Place | None = None) -> int:
        """See `StoredLog`. One walk of a session at a time: many at once would look like many failed attempts."""
        until = until or (await self.last()).next
        async with self._sessions.of((workspace, session)):
            number = 0
            after = await self.store.watermark(workspace, session)
            if after >= until.previous:
                return number
            places = await self.store.places(workspace, session, after, until)
            async for message in self.walk(workspace, session, after, until):
                if message.place not in places:
                    await self._catch(message, until, in_order=session == EVERY_SESSION)
                number += 1
                if number % MESSAGES_PER_WATERMARK == 0:
                    await self.store.advance(workspace, session, message.place)
            await self.store.advance(workspace, session, until.previous)
            return number

    async def later(self, trigger: Breadcrumb, seconds: float) -> list[Breadcrumb]:
        """New messages of the session less than so many seconds after the trigger; a copy of an earlier one is not new."""
        if not seconds:
            return []
        crumbs = []
        walk = self.walk(trigger.workspace, trigger.session, trigger.place, (await self.last()).next)
        async for message, crumb in self.readable(walk):
            if (message.received_at - trigger.received_at).total_seconds() >= seconds:
                break
            stored = await self.store.facts(crumb)
            if not message.replay and (stored is None or stored.breadcrumb.place > trigger.place):
                crumbs.append(crumb)
        return crumbs

    async def _catch(self, message: StreamMessage, waiting: Place, *, in_order: bool) -> None:
        """Remember a message, or dead-letter one that cannot be read or has crashed workers. waiting: who needs it."""
        if message.place in self.in_work:
            # Its own attempt is counted and rejected there: two at once would look like a crash.
            with contextlib.suppress(Rejected):
                await self._remember_message(message, in_order=in_order)
            return
        attempt = await self.store.start_attempt(message.place)
        if 1 < attempt <= self.max_attempts:
            # A worker crashed on this message before, so the attempt that waits for it is not counted.
            await self.store.undo_attempt(waiting)
        try:
            self._check(attempt)
            await self._remember_message(message, in_order=in_order)
        except Rejected as error:
            await self._publisher.dead_letter(message, str(error))
            return
        except (Unavailable, asyncio.CancelledError):
            await self.store.undo_attempt(message.place)
            raise
        await self.store.clear_attempts(message.place)

    def _check(self, attempt: int) -> None:
        if attempt >= self.max_attempts:
            raise Rejected(f"{attempt - 1} attempts to remember it ended in a crash or a bug; see the worker's log")

    async def _remember_message(self, message: StreamMessage, *, in_order: bool) -> None:
        """in_order: everything before it in the workspace is remembered."""
        breadcrumb = await self.read(message)
        if not in_order:
            await self.callers(breadcrumb)
            await self.moves(breadcrumb)
        await self._remember(breadcrumb)


@dataclass(frozen=True, slots=True)
class _Span:
    """Definitions, and the positions for which they hold: everything without a session before `last` was read."""

    first: Place
    last: Place
    definitions: Definitions


class _Definitions:
    """The definitions of workspaces, read from the store once. After that only the stream is asked whether one has come since."""

    def __init__(self, log: Log) -> None:
        self.spans: LRUCache[str, _Span] = LRUCache(MAX_WORKSPACES)
        self._log = log
        self._locks = KeyedLock[str]()
        self._newest = ORIGIN
        """The last message that the log has heard of: the stream has everything before it."""
        self._waiting = 0

    async def before(self, workspace: str, place: Place) -> Definitions:
        self._newest = max(self._newest, place)
        span = self.spans.get(workspace)
        if span is not None and span.first <= place <= span.last:
            return span.definitions
        self._waiting += 1
        try:
            async with self._locks.of(workspace):
                span = self.spans.get(workspace)
                if span is None or span.first.incarnation != place.incarnation:
                    span = self.spans[workspace] = await self._read(workspace, place)
                elif place < span.first:  # a message that comes late, or comes again
                    span = await self._read(workspace, place)
                elif place > span.last:
                    span = self.spans[workspace] = await self._extended(span, workspace, place)
        finally:
            self._waiting -= 1
        return span.definitions

    async def _extended(self, span: _Span, workspace: str, place: Place) -> _Span:
        """The span as far as the log has heard, or up to the first record that may change it."""
        until = max(self._newest, place)
        if self._waiting >= BACKLOG:
            until = max(until, (await self._log.last()).next)
        ids = {each.id for each in span.definitions}
        walk = self._log.walk(workspace, NO_SESSION, span.last.previous, until)
        async for message, record in self._log.readable(walk):
            if record.schema in DEFINING_SCHEMAS or record.removes or record.id in ids:
                return replace(span, last=message.place) if message.place >= place else await self._read(workspace, place)
        return replace(span, last=until)

    async def _read(self, workspace: str, place: Place) -> _Span:
        await self._log.catch_up(workspace, NO_SESSION, place)
        return _Span(place, place, await definitions_as_of(self._log.store, workspace, place.previous))


def unexpired(definitions: Definitions, moment: datetime) -> Definitions:
    """Those that have not expired at the moment."""
    return tuple(each for each in definitions if each.expires_at is None or each.expires_at > moment)
