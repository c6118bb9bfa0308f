"""Which definitions hold for a message: a function of the stream in front of it, whichever worker asks.

Definitions change seldom and messages come often. So they are read from the store once, and then only the stream is asked
whether a record of no session has come since: one request for all messages that this worker has heard of by then.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected
from builder.domain.record_consumers import DEFINING_SCHEMAS, Definitions
from builder.ports.broker import Stream
from builder.ports.store import BreadcrumbStore
from builder.recall.definitions import definitions_as_of
from builder.recall.index.keyed_lock import KeyedLock
from builder.remember.long_input import decoded
from builder.worker.catch_up import CatchUp

BACKLOG = 4
"""Messages that wait from which on the stream is asked for its end first: then one look serves all that it holds."""
MAX_WORKSPACES = 1_000
"""Whose definitions are kept in memory."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Definitions, and the places for which they hold."""

    first: Place
    last: Place
    """Everything of no session below it is looked at."""
    definitions: Definitions

    def covers(self, place: Place) -> bool:
        """Whether they hold for a message at this place."""
        return self.first <= place <= self.last


class DefinitionReader:
    """Reads the definitions of workspaces."""

    def __init__(
        self,
        stream: Stream,
        last: Callable[[], Awaitable[Place]],
        store: BreadcrumbStore,
        catch_up: CatchUp,
        decode: Callable[[StreamMessage], Breadcrumb],
    ) -> None:
        """last: place of the newest message of the stream; raises `Unavailable`. decode: raises `Rejected`."""
        self._stream = stream
        self._last = last
        self._store = store
        self._catch_up = catch_up
        self._decode = decode
        self._spans: OrderedDict[str, _Span] = OrderedDict()
        self._locks = KeyedLock[str]()
        self._newest = ORIGIN
        """The last message that this worker has heard of: the stream has everything in front of it."""
        self._waiting = 0
        """Messages that wait for an answer of the stream."""

    async def before(self, workspace: str, place: Place, moment: datetime) -> Definitions:
        """The definitions in front of a place that have not expired at the moment. Raises `Unavailable`."""
        self._newest = max(self._newest, place)
        span = self._spans.get(workspace)
        if span is None or not span.covers(place):
            self._waiting += 1
            try:
                async with self._locks.of(workspace):
                    span = await self._span(workspace, place)
            finally:
                self._waiting -= 1
        return unexpired(span.definitions, moment)

    def latest(self, workspace: str) -> Definitions:
        """Those that were read last, whatever came since; expired ones included."""
        span = self._spans.get(workspace)
        return span.definitions if span else ()

    def all_latest(self) -> Iterator[Definitions]:
        """`latest` of every workspace that has been asked for."""
        return (span.definitions for span in tuple(self._spans.values()))

    def drop(self, workspace: str) -> None:
        """Read them again, because something was erased."""
        self._spans.pop(workspace, None)

    async def _span(self, workspace: str, place: Place) -> _Span:
        span = self._spans.get(workspace)
        if span is None or span.first.incarnation != place.incarnation:
            return self._keep(workspace, await self._read(workspace, place))
        if span.covers(place):
            return span
        if place < span.first:  # a message that comes late, or comes again
            return await self._read(workspace, place)
        return self._keep(workspace, await self._extended(span, workspace, place))

    async def _extended(self, span: _Span, workspace: str, place: Place) -> _Span:
        """The span as far as this worker has heard, or up to the first record that may change it."""
        until = max(self._newest, place)
        if self._waiting >= BACKLOG:
            until = max(until, (await self._last()).next)
        ids = {each.id for each in span.definitions}
        async for message in self._stream.walk(workspace, NO_SESSION, span.last.previous, until):
            if not await self._may_change(message, ids):
                continue
            if message.place >= place:
                return replace(span, last=message.place)
            return await self._read(workspace, place)
        return replace(span, last=until)

    async def _read(self, workspace: str, place: Place) -> _Span:
        await self._catch_up.walk(workspace, NO_SESSION, place)
        return _Span(place, place, await definitions_as_of(self._store, workspace, place.previous))

    async def _may_change(self, message: StreamMessage, ids: set[str]) -> bool:
        try:
            record = await decoded(self._decode, message)
        except Rejected:
            return False
        return record.schema in DEFINING_SCHEMAS or bool(record.removes) or record.id in ids

    def _keep(self, workspace: str, span: _Span) -> _Span:
        self._spans[workspace] = span
        self._spans.move_to_end(workspace)
        if len(self._spans) > MAX_WORKSPACES:
            self._spans.popitem(last=False)
        return span


def unexpired(definitions: Definitions, moment: datetime) -> Definitions:
    """Those that have not expired at the moment."""
    if all(each.expires_at is None for each in definitions):
        return definitions
    return tuple(each for each in definitions if each.expires_at is None or each.expires_at > moment)
