"""Catch-up: before a context is built, everything earlier of its session is remembered, whoever was meant to do it.

So any worker can take any session, and contexts are the same whichever worker builds them (design §1).
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from weakref import WeakValueDictionary

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected, Unavailable
from builder.domain.recall import EVERY_SESSION, Scope
from builder.ports.broker import Publisher, Stream
from builder.ports.store import BreadcrumbStore, Progress

SAVE_EVERY = 256
"""Walked breadcrumbs between two notes of how far the walk has come."""


class CatchUp:
    """Walks a session from its watermark to a place and remembers what is missing."""

    def __init__(
        self,
        stream: Stream,
        store: BreadcrumbStore,
        ledger: Progress,
        publisher: Publisher,
        decode: Callable[[StreamMessage], Breadcrumb],
        remember: Callable[[Breadcrumb], Awaitable[object]],
        max_attempts: int,
        in_work: AbstractSet[Place] = frozenset(),
    ) -> None:
        """Decode raises `Rejected`; remember raises `Unavailable`. in_work: places that this process is working on itself."""
        self._stream = stream
        self._store = store
        self._ledger = ledger
        self._publisher = publisher
        self._decode = decode
        self._remember = remember
        self._max_attempts = max_attempts
        self._in_work = in_work
        self._walking: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def before(self, trigger: StreamMessage, scopes: tuple[Scope, ...]) -> None:
        """Remember all that comes before the trigger in these scopes, and in no session. Raises `Unavailable`."""
        walks = {(scope.workspace, session): None for scope in scopes for session in (NO_SESSION, *scope.sessions)}
        for workspace, session in walks:
            if session == EVERY_SESSION or (workspace, EVERY_SESSION) not in walks:
                await self.walk(workspace, session, trigger.place)

    async def askers(self, breadcrumb: Breadcrumb, waiting: tuple[Place, ...] = ()) -> None:
        """Remember all that comes before an answer that may join a session: then it is known who asked. Raises `Unavailable`.

        It is to be called before such an answer is remembered, so that whoever recalls it finds it where it belongs.
        waiting: as in `walk`.
        """
        if breadcrumb.joins_by:
            await self.walk(breadcrumb.workspace, EVERY_SESSION, breadcrumb.place, waiting)

    async def walk(self, workspace: str, session: str, until: Place, waiting: tuple[Place, ...] = ()) -> int:
        """Remember the session, or EVERY_SESSION, up to but not including `until`; returns how many. Raises `Unavailable`.

        waiting: places of which attempts wait for this walk, beside that of `until`.

        One walk of a session at a time, and the next one finds it done: many at once would look like many failed attempts.
        """
        async with self._walking.setdefault((workspace, session), asyncio.Lock()):
            walked = 0
            after = await self._ledger.watermark(workspace, session)
            if after >= Place(until.incarnation, until.sequence - 1):
                return walked
            held = await self._store.places(workspace, session, after, until)
            async for arrival in self._stream.walk(workspace, session, after, until):
                if arrival.place not in held:
                    await self._take(arrival, (*waiting, until), in_order=session == EVERY_SESSION)
                walked += 1
                if walked % SAVE_EVERY == 0:
                    await self._ledger.advance(workspace, session, arrival.place)
            await self._ledger.advance(workspace, session, Place(until.incarnation, until.sequence - 1))
            return walked

    async def _take(self, arrival: StreamMessage, waiting: tuple[Place, ...], *, in_order: bool) -> None:
        """A breadcrumb that cannot be read, or on which workers have died, is dead-lettered and passed over.

        in_order: everything before it in the workspace is remembered.
        """
        if arrival.place in self._in_work:
            # Its own delivery counts the attempts and rejects it: two at once would look like a crash.
            with contextlib.suppress(Rejected):
                await self._learn(arrival, waiting, in_order=in_order)
            return
        attempt = await self._ledger.start_attempt(arrival.place)
        if 1 < attempt <= self._max_attempts:
            # The worker died on this one before, which was not the fault of those that wait: they must outlive it.
            for place in waiting:
                await self._ledger.undo_attempt(place)
        try:
            self._check(attempt)
            await self._learn(arrival, waiting, in_order=in_order)
        except Rejected as error:
            await self._publisher.dead_letter(arrival, str(error))
            return
        except (Unavailable, asyncio.CancelledError):
            await self._ledger.undo_attempt(arrival.place)
            raise
        await self._ledger.clear_attempts(arrival.place)

    async def _learn(self, arrival: StreamMessage, waiting: tuple[Place, ...], *, in_order: bool) -> None:
        breadcrumb = self._decode(arrival)
        if not in_order:
            await self.askers(breadcrumb, waiting)
        await self._remember(breadcrumb)

    def _check(self, attempt: int) -> None:
        if attempt >= self._max_attempts:
            raise Rejected(f"{attempt - 1} attempts to remember it ended in a crash or a bug; see the worker's log")
