"""What has expired goes on a schedule: when it is due, one worker at a time, and out of the caches too."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typing_extensions import override

from builder.adapters.nats.clock import BrokerClock
from builder.domain.breadcrumb import StreamMessage
from builder.domain.errors import Unavailable
from builder.extra import extras
from builder.extras.operations.purge_lock import PurgeLock
from builder.extras.operations.purge_schedule import LAST_RUN, PurgeSchedule
from builder.extras.operations.purging import BATCH_ROWS, Purging
from builder.remember.decode import decode
from builder.testing import memory_client
from builder.worker.erasure import Erasure
from builder.worker.jobs import PACE, Observer
from tests.conversations import message_of
from tests.factories import remembered_of
from tests.ports import BusyLog, MemoryStream
from tests.stores import durable_store

START = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(hours=24)


def note(sequence: int, *, ttl: int | None = 0) -> StreamMessage:
    record: dict[str, Any] = {} if ttl is None else {"ttl": ttl}
    return message_of(sequence, "note.v1", {"content": f"Note {sequence}."}, id=f"n{sequence}", **record)


class Counts(Observer):
    """Notes how many breadcrumbs each purge erased."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers

    @override
    def purged(self, breadcrumbs: int) -> None:
        self.numbers.append(breadcrumbs)


class Clock(BrokerClock):
    """A clock of the broker. difference: seconds by which this computer's is ahead of it."""

    def __init__(self) -> None:
        self.difference = 0.0

    @override
    async def ahead(self) -> float:
        return self.difference


class Turns(PurgeLock):
    """Notes what was claimed and released."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.is_free = True

    @override
    async def claim(self) -> bool:
        self.steps.append("claim")
        return self.is_free

    @override
    async def renew(self) -> None:
        self.steps.append("renew")

    @override
    async def release(self) -> None:
        self.steps.append("release")


class Bench:
    """A store and a stream with notes. drops: what was dropped from caches."""

    def __init__(self, busy: Callable[[], bool] = lambda: False) -> None:
        self.store, self.stream = durable_store(), MemoryStream([])
        self.drops: list[tuple[str, frozenset[str]]] = []
        self.counts: list[int] = []
        self.turns, self.clock = Turns(), Clock()
        self.now = START
        log = BusyLog(self.store, lambda: self.now)
        log.is_busy = busy
        self.purging = Purging(log, Erasure(log, self.stream, self.drop))
        self.schedule = PurgeSchedule(self.purging, DAY, self.turns, Counts(self.counts), self.clock.state)

    async def purges(self) -> bool:
        """Whether a run of the schedule purged."""
        before = len(self.counts)
        await self.schedule.run_once()
        return len(self.counts) > before

    async def publish(self, *messages: StreamMessage) -> None:
        self.stream.messages += messages
        for message in messages:
            await self.store.remember(remembered_of(decode(message)))

    def drop(self, workspace: str, ids: frozenset[str]) -> int:
        self.drops.append((workspace, ids))
        return len(ids)


async def test_stream_contexts_store_and_caches_lose_what_has_expired() -> None:
    bench = Bench()
    await bench.publish(note(1), note(2, ttl=None), note(3))
    bench.stream.contexts = {7: ("contexts.a", frozenset({"n1"})), 8: ("contexts.b", frozenset({"n2"}))}
    (row,) = await bench.purging.run(START)
    assert (row.workspace, row.schema, row.breadcrumbs, row.messages, row.contexts) == ("acme", "note.v1", 2, 2, 1)
    assert [message.place.sequence for message in bench.stream.messages] == [2]
    assert list(bench.stream.contexts) == [8]
    assert await bench.store.count() == 1
    assert bench.drops == [("acme", frozenset({"n1", "n3"}))]
    assert await bench.purging.run(START) == ()


async def test_more_than_a_batch_goes_too_while_deliveries_are_in_work() -> None:
    looks: list[bool] = []

    def busy() -> bool:
        looks.append(True)
        return len(looks) < PACE.max_waits

    bench = Bench(busy)
    await bench.publish(*(note(number) for number in range(1, BATCH_ROWS + 3)))
    (row,) = await bench.purging.run(START)
    assert (row.breadcrumbs, row.messages) == (BATCH_ROWS + 2, BATCH_ROWS + 2)
    assert len(looks) >= PACE.max_waits


async def test_the_service_in_memory_needs_no_purge(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = {name: extra for name, extra in extras().items() if name != "operations"}
    monkeypatch.setattr("builder.extra.extras", lambda: rest)
    async with memory_client() as client:
        assert "Where is the kiln?" in (await client.ask("s1", "Where is the kiln?")).content


async def test_a_store_that_was_never_purged_waits_for_one_period_and_then_every_period_is_due_once() -> None:
    bench = Bench()
    await bench.publish(note(1))
    assert not await bench.purges()
    bench.now += DAY - timedelta(seconds=1)
    assert not await bench.purges()
    bench.now += timedelta(seconds=1)
    assert await bench.purges()
    assert (bench.counts, bench.turns.steps) == ([1], ["claim", "release"])
    assert not await bench.purges()
    assert (await bench.store.watermark(*LAST_RUN)).sequence == int(bench.now.timestamp())


@pytest.mark.parametrize("ahead", [6.0, -6.0, 40 * 86_400.0])
async def test_while_the_clocks_differ_nothing_is_purged_and_afterwards_it_is(ahead: float) -> None:
    bench = Bench()
    await bench.publish(note(1))
    await bench.purges()
    bench.now, bench.clock.difference = START + DAY, ahead
    assert not await bench.purges()
    bench.clock.difference = 4.0
    assert await bench.purges()
    assert (bench.counts, bench.turns.steps) == ([1], ["claim", "release"])


async def test_a_purge_that_is_noted_in_the_future_counts_as_none() -> None:
    bench = Bench()
    bench.now = START + 40 * DAY
    await bench.purges()
    bench.now = START
    assert not await bench.purges()
    bench.now = START + DAY
    assert await bench.purges()


async def test_while_another_worker_purges_this_one_waits_for_its_turn() -> None:
    bench = Bench()
    await bench.purges()
    bench.now, bench.turns.is_free = START + DAY, False
    assert not await bench.purges()
    bench.turns.is_free = True
    assert await bench.purges()
    assert bench.turns.steps == ["claim", "claim", "release"]


async def test_a_purge_that_fails_gives_its_turn_back_and_is_due_again() -> None:
    bench = Bench()
    await bench.publish(note(1))
    await bench.purges()
    bench.now = START + DAY

    bench.stream.is_away = True
    with pytest.raises(Unavailable):
        await bench.purges()
    bench.stream.is_away = False
    assert bench.turns.steps == ["claim", "release"]
    assert await bench.purges()
