"""Contexts as server-sent events: one subscription of the process, fanned out to all who listen."""

import asyncio
import contextlib
import json
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterator
from collections.abc import Set as AbstractSet
from contextlib import aclosing, contextmanager
from functools import partial
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from builder.adapters.http import ENDLESS
from builder.adapters.nats.contexts import ContextStream
from builder.adapters.nats.stream import STUB
from builder.app.access import AccessControl
from builder.domain.breadcrumb import ORIGIN, Place, StreamMessage
from builder.domain.errors import Rejected, Unavailable
from builder.extra import Caller
from builder.wire.answers import cursor, place_of
from builder.wire.subjects import check_token
from builder.worker.jobs import Job, UnexpectedError, guard

log = logging.getLogger("builder.http")

HEARTBEAT_SECONDS = 15.0
PAUSE_SECONDS = 0.5
"""Before the stream is followed again."""
START_SECONDS = 5.0
MAX_WAITING = 64
"""Events that a client may be behind. Their bytes are shared by all clients."""
SLOW_SECONDS = 30.0
"""For a client to take one event."""
_CURSOR = re.compile(r"[0-9]{1,18}\.[0-9]{1,18}")
HEARTBEAT = b": heartbeat\n\n"
SLOW = b"event: end\ndata: this client reads too slowly; connect again with Last-Event-ID, nothing is lost\n\n"
REVOKED = (
    b"event: end\ndata: this token is no longer valid; connect again with a valid one and Last-Event-ID, nothing is lost\n\n"
)
HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)
STOPPED = b"event: end\ndata: the service stops; connect again with Last-Event-ID, nothing is lost\n\n"


class Listener:
    """A client's events."""

    __slots__ = ("_waiting", "_wake", "is_over")

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._wake = asyncio.Event()
        self.is_over = False

    def put(self, event: bytes) -> None:
        """Add an event; one too many ends the client."""
        if self.is_over:
            return
        if len(self._waiting) == MAX_WAITING:
            self.end(SLOW)
            return
        self._waiting.append(event)
        self._wake.set()

    def beat(self) -> None:
        """Show that the connection lives, if nothing else does."""
        if not self._waiting:
            self.put(HEARTBEAT)

    def end(self, event: bytes = b"") -> None:
        """The last event; what waits is left to the next connection."""
        if not self.is_over:
            self._waiting, self.is_over = [event] if event else [], True
            self._wake.set()

    async def events(self) -> AsyncGenerator[bytes, None]:
        """In order, until the end."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            waiting, self._waiting = self._waiting, []
            for event in waiting:
                if self.is_over and event is not waiting[-1]:
                    break
                yield event
            if self.is_over and not self._waiting:
                return


class Fanout:
    """Follows the stream of contexts and hands each to its listeners."""

    def __init__(self, stream: ContextStream, access: AccessControl, holders: Callable[[], Collection[Caller]]) -> None:
        """holders: of valid tokens."""
        self._stream = stream
        self._access = access
        self._holders = holders
        self._place = ORIGIN
        self._ready = asyncio.Event()
        self._listeners: dict[tuple[str, ...], dict[Caller, set[Listener]]] = {}
        self._is_closed = False

    @property
    def jobs(self) -> tuple[Job, ...]:
        """What the service runs."""
        return (
            Job(name="following the contexts", every=PAUSE_SECONDS, run_once=self.follow),
            Job(name="showing that listeners live", every=HEARTBEAT_SECONDS, run_once=self.beat),
        )

    def close(self) -> None:
        """End every client; those that come later end at once."""
        self._is_closed = True
        for listener in self._all():
            listener.end(STOPPED)

    async def response(self, caller: Caller, consumer: str, last_event: str) -> "EventStream":
        """The answer to a client. last_event: id of the last event that it has; "" = none. Raises `Rejected`, `Unavailable`."""
        check_token(consumer, "consumer")
        if last_event and not _CURSOR.fullmatch(last_event):
            raise Rejected(f"Last-Event-ID is {last_event[:40]!r}; send the id of an event, as it came")
        after = place_of(last_event) if last_event else None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await self._ready.wait()
        if not self._ready.is_set():
            raise Unavailable("the stream of contexts cannot be read yet; look at `context-builder doctor`")
        return EventStream(partial(self.send, caller, consumer, after))

    async def send(self, caller: Caller, consumer: str, after: Place | None, receive: Receive, send: Send) -> None:
        """Server-sent events, until the client goes."""
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        with self.listening(caller, consumer) as (listener, place):
            watching = asyncio.create_task(_gone(receive, listener))
            try:
                await _send(send, b"retry: 1000\nid: " + cursor(after or place).encode() + b"\n\n")
                if after is not None:
                    async for event in self.earlier(caller, consumer, after, place):
                        if listener.is_over:
                            break
                        await _send(send, event)
                async for event in listener.events():
                    await _send(send, event)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            except Unavailable as error:
                log.warning("the events of %s ended, and their client connects again: %s", consumer, error)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            except (TimeoutError, OSError):
                log.info("a client of %s took no event for %g s; its connection was closed", consumer, SLOW_SECONDS)
            finally:
                watching.cancel()

    @contextmanager
    def listening(self, caller: Caller, consumer: str) -> Iterator[tuple[Listener, Place]]:
        """A listener for the block, and the place behind which its events begin."""
        listener, key = Listener(), (caller.workspace, consumer)
        group = self._listeners.setdefault(key, {}).setdefault(caller, set())
        group.add(listener)
        if self._is_closed:
            listener.end(STOPPED)
        try:
            yield listener, self._place
        finally:
            group.discard(listener)
            if not group:
                callers = self._listeners.get(key, {})
                callers.pop(caller, None)
                if not callers:
                    self._listeners.pop(key, None)

    async def earlier(self, caller: Caller, consumer: str, after: Place, until: Place) -> AsyncIterator[bytes]:
        """The kept events between two places; those of a stream that was made again are all newer."""
        sequence = after.sequence if after.incarnation == until.incarnation else 0
        if sequence < until.sequence:
            async for arrival in self._stream.between(caller.workspace, consumer, sequence, until.next):
                if await self._readers(arrival, lambda: {caller}):
                    yield _event(arrival)

    async def follow(self) -> None:
        """Hand out what comes, until the server has lost the subscription. Raises `Unavailable`."""
        last = await self._stream.last()
        if self._place.incarnation != last.incarnation:
            self._place = last if self._place == ORIGIN else Place(last.incarnation, 0)
        self._ready.set()
        async with aclosing(self._stream.behind(self._place)) as arrivals:
            async for arrival in arrivals:
                await self.hand_out(arrival)

    async def hand_out(self, arrival: StreamMessage) -> None:
        """To all at once, so that it comes once to each of them, also when it is tried again. Raises `Unavailable`."""
        key = tuple(arrival.subject.split(".")[1:3])
        readers = await self._readers(arrival, lambda: self._of(key).keys())
        # Nothing is awaited from here on: nobody can come between the look at who listens and the new place.
        self._place = arrival.place
        for listener in [each for caller in readers for each in self._of(key).get(caller, ())]:
            listener.put(_event(arrival))

    async def beat(self) -> None:
        """Show listeners that their connection lives; end those whose token is gone."""
        holders = self._holders()
        for callers in self._listeners.values():
            for caller, group in callers.items():
                for listener in group:
                    if caller in holders:
                        listener.beat()
                    else:
                        listener.end(REVOKED)

    async def _readers(self, arrival: StreamMessage, callers: Callable[[], AbstractSet[Caller]]) -> list[Caller]:
        """Those that a context is for, also of those that come meanwhile. What cannot be read is for nobody."""
        try:
            return await guard(self._decide(arrival, callers), log, "reading a context")
        except (Rejected, UnexpectedError) as error:
            log.warning("message %d of the contexts is left out: %s", arrival.place.sequence, error)
            return []

    async def _decide(self, arrival: StreamMessage, callers: Callable[[], AbstractSet[Caller]]) -> list[Caller]:
        decided: dict[Caller, bool] = {}
        while new := callers() - decided.keys():
            content = _content(arrival)
            asker = await self._access.asker(content, arrival.subject.split(".")[1]) if any(each.user for each in new) else ""
            for caller in new:
                is_candidate = arrival.data != STUB and caller.user in ("", asker)
                decided[caller] = is_candidate and await self._access.is_for(caller, content)
        return [caller for caller, is_reader in decided.items() if is_reader]

    def _of(self, key: tuple[str, ...]) -> dict[Caller, set[Listener]]:
        return self._listeners.get(key, {})

    def _all(self) -> list[Listener]:
        return [each for callers in self._listeners.values() for group in callers.values() for each in group]


class EventStream(Response):
    """Leaves the events to `with_applications`: the layers of a request would take 12 kB as long as its client listens."""

    def __init__(self, events: Callable[[Receive, Send], Awaitable[None]]) -> None:
        super().__init__()
        self._events = events

    async def __call__(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        """See ASGI."""
        scope["state"][ENDLESS] = self._events


async def _send(send: Send, event: bytes) -> None:
    async with asyncio.timeout(SLOW_SECONDS):
        await send({"type": "http.response.body", "body": event, "more_body": True})


async def _gone(receive: Receive, listener: Listener) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    listener.end()


def _content(arrival: StreamMessage) -> dict[str, Any]:
    """Raises `Rejected`."""
    try:
        content = json.loads(arrival.data)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise Rejected("it is no JSON object; look who publishes to contexts.>")
    return content


def _event(arrival: StreamMessage) -> bytes:
    return b"id: " + cursor(arrival.place).encode() + b"\nevent: context\ndata: " + arrival.data.replace(b"\n", b" ") + b"\n\n"
