"""The order of deliveries: one of a session at a time, and turns for sessions and workspaces while many wait."""

import asyncio
from bisect import insort
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property, partial
from heapq import heappop, heappush
from itertools import count
from typing import TypeVar

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.timing import timed
from builder.remember.memory import THREAD_TURN

MAX_AT_ONCE = 4
"""Pieces of work at once. They share one thread, so that more of them only make each one slower."""

Waiter = asyncio.Future[None]
Result = TypeVar("Result")


class SessionOrder:
    """One delivery of a session at a time, in the order of the stream."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[str, list[tuple[int, int, bool, Waiter]]]] = {}
        """Workspace → session → the deliveries that wait, a heap by sequence and arrival; see `turn` for the other two."""
        self._working: set[tuple[str, str]] = set()
        self._open: dict[str, list[int]] = {}
        """Workspace → sequences of deliveries that are not done, sorted."""
        self._unresolved: dict[str, list[int]] = {}
        """Workspace → sequences of deliveries whose session is not known yet, sorted."""
        self._arrivals = count()

    @asynccontextmanager
    async def turn(
        self, workspace: str, session: str, sequence: int, home: Awaitable[str] | None = None, *, alone: bool = False
    ) -> AsyncIterator[None]:
        """Wait until all earlier deliveries of the session that have arrived are done; alone: those of the whole workspace.

        home: gives the session, where only the history knows it. Later deliveries of the workspace wait until it is known.
        """
        waiter: Waiter = asyncio.get_running_loop().create_future()
        try:
            with self._listed(self._open, workspace, sequence):
                if home is not None:
                    with self._listed(self._unresolved, workspace, sequence):
                        session = await home
                line = self._lines.setdefault(workspace, {}).setdefault(session, [])
                heappush(line, (sequence, next(self._arrivals), alone, waiter))
                self._grant(workspace)
                await waiter
                yield
        finally:
            if waiter.done() and not waiter.cancelled():
                self._working.discard((workspace, session))
            self._grant(workspace)

    @staticmethod
    @contextmanager
    def _listed(lists: dict[str, list[int]], workspace: str, sequence: int) -> Iterator[None]:
        sequences = lists.setdefault(workspace, [])
        insort(sequences, sequence)
        try:
            yield
        finally:
            sequences.remove(sequence)
            if not sequences:
                del lists[workspace]

    def _grant(self, workspace: str) -> None:
        """Let the first of each line begin, unless another one is at work or an earlier one may still join the line."""
        lines, unresolved = self._lines.get(workspace, {}), self._unresolved.get(workspace)
        for session, line in list(lines.items()):
            while line and line[0][-1].cancelled():
                heappop(line)
            if not line:
                del lines[session]
                continue
            sequence, _, alone, waiter = line[0]
            is_first = (not unresolved or sequence < unresolved[0]) and (not alone or sequence <= self._open[workspace][0])
            if is_first and (workspace, session) not in self._working:
                self._working.add((workspace, session))
                heappop(line)
                waiter.set_result(None)
        if not lines:
            self._lines.pop(workspace, None)


class Turns:
    """A few pieces of work at once: workspaces take turns, and in each its sessions."""

    def __init__(self, places: int = MAX_AT_ONCE) -> None:
        self._free = places
        self._places: set[Waiter] = set()
        self._waiting: dict[str, dict[str, deque[Waiter]]] = {}

    @asynccontextmanager
    async def of(self, workspace: str, session: str) -> AsyncIterator[None]:
        """Wait for a turn of the session, and keep it for the block. Never waits for another turn inside the block."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(workspace, {}).setdefault(session, deque()).append(waiter)
        self._pass_on()
        token = THREAD_TURN.set(partial(self._thread_turn, workspace, session, waiter))
        try:
            with timed("wait"):
                await waiter
            yield
        finally:
            THREAD_TURN.reset(token)
            self._leave(waiter)

    @asynccontextmanager
    async def _thread_turn(self, workspace: str, session: str, waiter: Waiter) -> AsyncIterator[None]:
        """Give the place away for good, and wait for a turn in the thread of long input: what follows it is short."""
        self._leave(waiter)
        async with self._in_thread.of(workspace, session):
            yield

    @cached_property
    def _in_thread(self) -> "Turns":
        return Turns(1)

    def _leave(self, waiter: Waiter) -> None:
        if waiter in self._places:
            self._places.discard(waiter)
            self._free += 1
            self._pass_on()

    def around(self, work: Callable[[Breadcrumb], Awaitable[Result]]) -> Callable[[Breadcrumb], Awaitable[Result]]:
        """The same work, each time in a turn of the breadcrumb's session."""

        async def in_turn(breadcrumb: Breadcrumb) -> Result:
            async with self.of(breadcrumb.workspace, breadcrumb.session):
                return await work(breadcrumb)

        return in_turn

    def _pass_on(self) -> None:
        """Give free places to who waits; a workspace and a session go to the end of their rotation."""
        while self._free and self._waiting:
            workspace = next(iter(self._waiting))
            sessions = self._waiting.pop(workspace)
            session = next(iter(sessions))
            waiters = sessions.pop(session)
            waiter = waiters.popleft()
            if waiters:
                sessions[session] = waiters
            if sessions:
                self._waiting[workspace] = sessions
            if not waiter.done():
                self._free -= 1
                self._places.add(waiter)
                waiter.set_result(None)
