"""The broker's ports in memory, as far as tests of the worker need them; the real ones have a contract suite."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

from typing_extensions import override

from builder.domain.breadcrumb import ORIGIN, Breadcrumb, Place, StreamMessage
from builder.domain.context import Context
from builder.domain.errors import AlreadyPublished, Unavailable
from builder.domain.profile import Profile, RecordConsumers
from builder.domain.recall import EVERY_SESSION
from builder.ports.archive import Sighting
from builder.remember.decode import decode
from builder.service import ContextBuilder
from builder.worker.consumers import Consumers
from builder.worker.jobs import Job, JobRunner, Observer, Pace, Pauses
from builder.worker.log import Log, StoredLog
from tests.factories import MORNING, make_place, remembered_of
from tests.stores import DurableStore, durable_store

Remember = Callable[[Breadcrumb], Awaitable[object]]


class FixedConsumers(Consumers):
    """Consumers of files alone, without a builder."""

    def __init__(self, *profiles: Profile) -> None:
        builder = SimpleNamespace(profiles=profiles, record_consumers=lambda _definitions: RecordConsumers())
        super().__init__(lambda: cast("ContextBuilder", builder), StoredLog(durable_store(), lambda: MORNING))


class MemoryStream:
    """`Stream`, `Sender` and `Archive` over a list of messages; what is sent has sequences from 1,001 on.

    reads: sessions that were walked. contexts_read: their sequences. deletions: walks that delete. is_away: all raise.
    """

    def __init__(self, messages: Iterable[StreamMessage] = ()) -> None:
        self.messages = list(messages)
        self._sequences = count(1001)
        self.reads: list[str] = []
        self.contexts: dict[int, tuple[str, frozenset[str]]] = {}
        self.stubs: list[str] = []
        self.stub_sequences: list[int] = []
        self.letters: list[str] = []
        self.contexts_read: list[int] = []
        self.deletions = 0
        self.is_away = False

    def _check(self) -> None:
        if self.is_away:
            raise Unavailable("the broker is away")

    async def walk(
        self, workspace: str, session: str, after: Place, until: Place, schema: str = ""
    ) -> AsyncIterator[StreamMessage]:
        self._check()
        self.reads.append(schema or session)
        for message in sorted(self.messages, key=lambda each: each.place):
            _, owner, of_session, of_schema = message.subject.split(".", 3)
            is_meant = session in {of_session, EVERY_SESSION} and schema in {"", of_schema}
            if owner == workspace and is_meant and after < message.place < until:
                yield message

    async def get(self, sequence: int) -> StreamMessage | None:
        return next((message for message in self.messages if message.place.sequence == sequence), None)

    async def newest(self, workspace: str, session: str, schema: str = "") -> int:
        subject = f"breadcrumbs.{workspace}.{session}.{schema}"
        return max((each.place.sequence for each in self.messages if each.subject.startswith(subject)), default=0)

    async def last(self) -> Place:
        return max((message.place for message in self.messages), default=ORIGIN)

    async def tombstones(self, after: Place, until: Place) -> AsyncIterator[StreamMessage]:
        for message in self.messages:
            if message.subject.endswith(".breadcrumb.deleted.v1") and after < message.place < until:
                yield message

    async def send(self, subject: str, data: bytes, message_id: str, *, triggers: bool = False) -> StreamMessage:  # noqa: ARG002 - the port's
        self._check()
        place = make_place(next(self._sequences))
        self.messages.append(StreamMessage(subject=subject, data=data, place=place, received_at=MORNING, replay=not triggers))
        return self.messages[-1]

    async def delete_breadcrumbs(self, workspace: str, session: str, ids: frozenset[str], until: Place) -> Counter[str]:
        subject, counts = f"breadcrumbs.{workspace}.{session}.", Counter[str]()
        self.deletions += 1
        for message in tuple(self.messages):
            name = _name(message, ids)
            if message.subject.startswith(subject) and message.place < until and name:
                counts[name] += self._keep(each for each in self.messages if each is not message)
        return counts

    async def delete_at(self, place: Place, workspace: str, session: str, identity: str = "") -> bool:  # noqa: ARG002 - the port's
        return bool(self._keep(message for message in self.messages if message.place != place))

    def _keep(self, messages: Iterable[StreamMessage]) -> int:
        self._check()
        before, self.messages = len(self.messages), list(messages)
        return before - len(self.messages)

    async def delete_letters(
        self,
        workspace: str,  # noqa: ARG002 - the port's
        session: str,  # noqa: ARG002 - the port's
        ids: frozenset[str] | None,
        after: int = 0,  # noqa: ARG002 - the port's
    ) -> tuple[Counter[str], int]:
        gone = [letter for letter in self.letters if ids is None or letter in ids]
        self.letters = [letter for letter in self.letters if letter not in gone]
        return Counter(gone if ids is not None else [""] * len(gone)), 0

    async def contexts_with(self, workspace: str, ids: frozenset[str], after: int = 0) -> tuple[tuple[Sighting, ...], int]:  # noqa: ARG002 - the port's
        new = {sequence: context for sequence, context in self.contexts.items() if sequence > after}
        self.contexts_read += new
        seen = (Sighting(sequence, subject, of & ids) for sequence, (subject, of) in new.items())
        return tuple(each for each in seen if each.ids), max((after, *new))

    async def replace_context(self, sequence: int, subject: str) -> int:
        self._check()
        self.contexts.pop(sequence, None)
        self.stubs.append(subject)
        return self.stub_sequences.pop(0) if self.stub_sequences else 0


def make_log(stream: MemoryStream, store: DurableStore, remember: Remember | None = None, **others: Any) -> Log:
    """The log of these messages. remember: how it stores a breadcrumb, without vectors unless given. others: as `Log`."""

    async def plain(breadcrumb: Breadcrumb) -> None:
        await store.remember(remembered_of(breadcrumb))

    return Log(stream, store, others.pop("publisher", None) or MemoryPublisher(), decode, remember or plain, **others)


async def run_job(name: str, run_once: Callable[[], Awaitable[object]]) -> None:
    """Run a job without pauses until cancelled."""
    pace = Pace(pauses=Pauses(0.001, 0.001))
    await JobRunner(busy=lambda: False, observer=Observer(), pace=pace).run(Job(name=name, every=0, run_once=run_once))


def _name(message: StreamMessage, ids: frozenset[str]) -> str:
    return next((identity for identity in ids if f'"id": "{identity}"'.encode() in message.data), "")


class MemoryPublisher:
    """`Publisher`: one context an id. announced: ids of contexts. is_away: all raise. is_mute: announcements raise."""

    def __init__(self) -> None:
        self.contexts: dict[str, bytes] = {}
        self.announced: list[str] = []
        self.letters: list[tuple[int, str]] = []
        self.attempts = count()
        self.is_away = False
        self.is_mute = False
        self.times = ""

    def _check(self) -> None:
        if self.is_away:
            raise Unavailable("the broker is away")

    async def publish(self, context: Context, event: bytes, times: str) -> None:
        self._check()
        self.times = times
        next(self.attempts)
        if str(context.id) in self.contexts:
            raise AlreadyPublished("it is in the stream")
        self.contexts[str(context.id)] = event

    async def holds(self, context: Context) -> bool:
        self._check()
        return str(context.id) in self.contexts

    async def announce(self, context: Context) -> None:
        if self.is_mute:
            raise Unavailable("nothing is announced")
        self.announced.append(str(context.id))

    async def dead_letter(self, arrival: StreamMessage, reason: str, consumer: str = "") -> None:  # noqa: ARG002 - the port's
        self._check()
        self.letters.append((arrival.place.sequence, reason))


class HandDelivery:
    """A `Delivery` of the test. settled: what was done with it. beats: signs of life."""

    def __init__(self, arrival: StreamMessage, **changes: object) -> None:
        """changes: of the message."""
        self.arrival = replace(arrival, **changes)  # type: ignore[arg-type]
        self.settled: list[str] = []
        self.beats = 0

    async def ack(self) -> None:
        self.settled.append("ack")

    async def retry(self, delay: float) -> None:
        self.settled.append(f"retry after {delay}")

    async def reject(self) -> None:
        self.settled.append("reject")

    async def keep_alive(self) -> None:
        self.beats += 1


class BusyLog(StoredLog):
    """is_busy: whether deliveries are in work."""

    is_busy: Callable[[], bool] = staticmethod(lambda: False)

    @property
    @override
    def busy(self) -> bool:
        return self.is_busy()
