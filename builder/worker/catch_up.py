"""Catch-up: before a context is built, everything earlier of its session is remembered.

So any worker can take any session, and contexts are the same whichever worker builds them.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from typing import Protocol

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected, Unavailable
from builder.domain.recall import EVERY_SESSION, Scope
from builder.ports.broker import Publisher, Stream
from builder.ports.store import BreadcrumbStore, CallOrigin, Progress, Rebuild, origins_of
from builder.recall.index.reader import KeyedLock
from builder.remember.memory import decoded

MESSAGES_PER_WATERMARK = 256
"""Messages of a walk after which the watermark is raised, and calls that are noted at once."""
CALLS = "*calls"
"""In place of a session, the watermark up to which the calls of a workspace are noted. No session can have this name."""
CALLER_SCHEMAS = ("agent.response.v1", "tool.request.v1")
"""Schemas whose breadcrumbs may make tool calls."""


class Store(BreadcrumbStore, Rebuild, Protocol):
    """What catch-up writes to."""


class CatchUp:
    """Walks a session from its watermark to a place and remembers what is missing."""

    def __init__(
        self,
        stream: Stream,
        store: Store,
        progress: Progress,
        publisher: Publisher,
        decode: Callable[[StreamMessage], Breadcrumb],
        remember: Callable[[Breadcrumb], Awaitable[object]],
        max_attempts: int,
        in_work: AbstractSet[Place] = frozenset(),
    ) -> None:
        """decode: raises `Rejected`. remember: raises `Unavailable`. in_work: places of this process's running attempts."""
        self._stream = stream
        self._store = store
        self._progress = progress
        self._publisher = publisher
        self._decode = decode
        self._remember = remember
        self._max_attempts = max_attempts
        self._in_work = in_work
        self._sessions = KeyedLock[tuple[str, str]]()

    async def before(self, trigger: StreamMessage, scopes: tuple[Scope, ...]) -> None:
        """Remember all that comes before the trigger in these scopes, and in no session. Raises `Unavailable`."""
        walks = {(scope.workspace, session): None for scope in scopes for session in (NO_SESSION, *scope.sessions)}
        for workspace, session in walks:
            if session == EVERY_SESSION or (workspace, EVERY_SESSION) not in walks:
                await self.walk(workspace, session, trigger.place)

    async def callers(self, answer: Breadcrumb) -> None:
        """Note who made which call before a tool's answer of no session: its call decides which session it joins.

        To be called before such an answer is remembered; costs nothing for everything else. A session that made calls is
        remembered when it is needed. Raises `Unavailable`.
        """
        if not answer.joins_by:
            return
        workspace, until = answer.workspace, answer.place
        async with self._sessions.of((workspace, CALLS)):
            after = max([await self._progress.watermark(workspace, key) for key in (CALLS, EVERY_SESSION)])
            if after >= until.previous:
                return
            for schema in CALLER_SCHEMAS:
                origins: list[CallOrigin] = []
                async for message in self._stream.walk(workspace, EVERY_SESSION, after, until, schema):
                    with contextlib.suppress(Rejected):
                        origins += origins_of(await decoded(self._decode, message))
                    if len(origins) >= MESSAGES_PER_WATERMARK:
                        await self._store.add_call_origins(tuple(origins))
                        origins.clear()
                await self._store.add_call_origins(tuple(origins))
            await self._progress.advance(workspace, CALLS, until.previous)

    async def walk(self, workspace: str, session: str, until: Place) -> int:
        """Remember the session, or EVERY_SESSION, up to but not including `until`; returns how many. Raises `Unavailable`.

        One walk of a session at a time: many at once would look like many failed attempts.
        """
        async with self._sessions.of((workspace, session)):
            number = 0
            after = await self._progress.watermark(workspace, session)
            if after >= Place(until.incarnation, until.sequence - 1):
                return number
            places = await self._store.places(workspace, session, after, until)
            async for message in self._stream.walk(workspace, session, after, until):
                if message.place not in places:
                    await self._catch(message, until, in_order=session == EVERY_SESSION)
                number += 1
                if number % MESSAGES_PER_WATERMARK == 0:
                    await self._progress.advance(workspace, session, message.place)
            await self._progress.advance(workspace, session, Place(until.incarnation, until.sequence - 1))
            return number

    async def _catch(self, message: StreamMessage, waiting: Place, *, in_order: bool) -> None:
        """Remember a message; one that cannot be read, or on which workers have crashed, is dead-lettered and skipped.

        waiting: of the attempt that this is for. in_order: everything before it in the workspace is remembered.
        """
        if message.place in self._in_work:
            # Its own attempt is counted and rejected there: two at once would look like a crash.
            with contextlib.suppress(Rejected):
                await self._remember_one(message, in_order=in_order)
            return
        attempt = await self._progress.start_attempt(message.place)
        if 1 < attempt <= self._max_attempts:
            # A worker crashed on this message before, so the attempt that waits for it is not counted.
            await self._progress.undo_attempt(waiting)
        try:
            self._check(attempt)
            await self._remember_one(message, in_order=in_order)
        except Rejected as error:
            await self._publisher.dead_letter(message, str(error))
            return
        except (Unavailable, asyncio.CancelledError):
            await self._progress.undo_attempt(message.place)
            raise
        await self._progress.clear_attempts(message.place)

    async def _remember_one(self, message: StreamMessage, *, in_order: bool) -> None:
        breadcrumb = await decoded(self._decode, message)
        if not in_order:
            await self.callers(breadcrumb)
        await self._remember(breadcrumb)

    def _check(self, attempt: int) -> None:
        if attempt >= self._max_attempts:
            raise Rejected(f"{attempt - 1} attempts to remember it ended in a crash or a bug; see the worker's log")
