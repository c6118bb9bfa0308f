"""The consumers of a workspace: those of profile files, and those that the records in front of a message make.

Definitions change seldom and messages come often. So they are read from the store once, and then only the stream is asked
whether a record of no session has come since: one request for all messages that this worker has heard of by then.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.domain.record_consumers import DEFINING_SCHEMAS, Definitions, RecordConsumers
from builder.domain.selector import Selector, trigger_on
from builder.ports.broker import Stream
from builder.ports.store import BreadcrumbStore
from builder.recall.index.reader import KeyedLock
from builder.recall.scopes import definitions_as_of
from builder.remember.memory import decoded
from builder.service import ContextBuilder
from builder.wire.requests import ConsumersRequest, read_request
from builder.worker.catch_up import CatchUp

BACKLOG = 4
"""Messages that wait from which on the stream is asked for its end first: then one look serves all that it holds."""
MAX_WORKSPACES = 1_000
"""Whose definitions are kept in memory."""
Verb = Callable[[str, bytes], Awaitable[dict[str, Any]]]
"""Of a request: workspace and JSON bytes → response. Raises `Rejected` and `Unavailable`."""


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


class Consumers:
    """All of them, as of now."""

    def __init__(
        self,
        builder: Callable[[], ContextBuilder],
        definitions: DefinitionReader | None,
        last: Callable[[], Awaitable[Place]],
        now: Callable[[], datetime],
    ) -> None:
        """builder: the current one. definitions: None = records make none. last: place of the newest message of the stream."""
        self._builder = builder
        self._definitions = definitions
        self._last = last
        self._now = now

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """Name in the subject → handler."""
        return {"consumers": self.consumers}

    async def before(self, workspace: str, place: Place, moment: datetime) -> Definitions:
        """See `DefinitionReader.before`."""
        return await self._definitions.before(workspace, place, moment) if self._definitions else ()

    def drop(self, workspace: str) -> None:
        """Read the definitions again, because something was erased."""
        if self._definitions:
            self._definitions.drop(workspace)

    async def of(self, workspace: str) -> tuple[Profile, ...]:
        """All of a workspace. Raises `Unavailable`."""
        return (*self._builder().profiles, *(await self.of_records(workspace)).profiles)

    async def of_records(self, workspace: str) -> RecordConsumers:
        """What the newest records of a workspace make. Raises `Unavailable`."""
        if self._definitions is None:
            return RecordConsumers()
        definitions = await self.before(workspace, (await self._last()).next, self._now())
        return self._builder().record_consumers(definitions)

    def in_memory(self, workspace: str = "") -> tuple[Profile, ...]:
        """Those that need nothing to be read: of files, and of the records of a workspace, or of all, that were read last."""
        builder, reader = self._builder(), self._definitions
        if reader is None:
            return builder.profiles
        sets = (reader.latest(workspace),) if workspace else reader.all_latest()
        return (*builder.profiles, *(profile for each in sets for profile in builder.record_consumers(each).profiles))

    async def consumers(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `ConsumersRequest`. Answers with each consumer's name, triggers, audience and origin, and with the findings."""
        read_request(ConsumersRequest, data)
        records = await self.of_records(workspace)
        of_files = [_consumer(profile, f"profiles/{profile.consumer}.yaml") for profile in self._builder().profiles]
        of_records = [_consumer(profile, records.origins[profile.consumer]) for profile in records.profiles]
        return {"consumers": of_files + of_records, "findings": [asdict(finding) for finding in records.findings]}


def _consumer(profile: Profile, origin: str) -> dict[str, Any]:
    return {
        "name": profile.consumer,
        "agent": profile.agent,
        "triggers": [_trigger(each) for each in profile.triggers],
        "audience": asdict(profile.audience) if profile.audience else None,
        "origin": origin,
        "budget": profile.budget,
        "revision": profile.revision,
    }


def _trigger(selector: Selector) -> str | dict[str, tuple[str, ...]]:
    """A schema, or what its author gave of a selector."""
    return next((name for name in selector.schemas if selector == trigger_on(name)), "") or selector.conditions
