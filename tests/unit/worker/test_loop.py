"""The loop settles every delivery exactly once, says how it ended, keeps a session in order, and tries a suspect alone."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from typing_extensions import override

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.delivery import DeliveryOutcome
from builder.domain.errors import Rejected, Unavailable
from builder.domain.stored import StoredBreadcrumb
from builder.publish.event import encode
from builder.worker.jobs import Observer, Pauses
from builder.worker.loop import Attempts, Worker
from builder.worker.processor import ContextPublisher, DeadLetters, Processor
from builder.worker.tombstones import Forgetting
from builder.worker.turns import Turns
from tests.commands import DEADLINE
from tests.conversations import message_of
from tests.factories import MORNING, make_place, make_profile
from tests.ports import HandDelivery, MemoryPublisher, MemoryStream, make_log
from tests.stores import DurableStore, durable_store
from tests.summarised import make_builder

ATTEMPTS = 3
PAUSES = Pauses(first=0.001, longest=0.004)
Step = Callable[[Breadcrumb], Awaitable[None]]


def hello(sequence: int, session: str = "s42", **record: str) -> HandDelivery:
    return HandDelivery(message_of(sequence, "user.message.v1", {"content": f"Hello {sequence}."}, session, **record))


async def nothing(_: Breadcrumb) -> None: ...


class Store(DurableStore):
    """step: runs before a breadcrumb is remembered, and may raise. cannot_undo: whether attempts cannot be taken back."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self._step = step
        self.cannot_undo = False

    @override
    async def remember(self, remembered: StoredBreadcrumb) -> bool:
        await self._step(remembered.breadcrumb)
        return await super().remember(remembered)

    @override
    async def undo_attempt(self, place: Place) -> None:
        if self.cannot_undo:
            raise Unavailable("the disk is away")
        await super().undo_attempt(place)


class Bench(Observer):
    """A worker for one consumer. step: as of the store. outcomes: of what was processed."""

    def __init__(self, step: Step = nothing, pauses: Pauses = PAUSES) -> None:
        self.store, self.publisher, self.stream = Store(step), MemoryPublisher(), MemoryStream()
        self.outcomes: list[DeliveryOutcome] = []
        builder = make_builder(self.store, (make_profile(consumer="a"),))
        self.log = make_log(
            self.stream, self.store, builder.remember,
            publisher=self.publisher, max_attempts=ATTEMPTS, now=lambda: MORNING,
        )  # fmt: skip
        contexts = ContextPublisher(self.publisher, encode)
        forgetting = cast("Forgetting", SimpleNamespace(apply=nothing))
        processor = Processor(lambda: builder, self.log, contexts, forgetting, Turns(), timedelta(hours=1))
        letters = DeadLetters(self.publisher, self.stream)
        self.worker = Worker(processor, self.log, letters, [("the test", self)], 0.001, pauses)

    @override
    def delivered(self, outcome: DeliveryOutcome) -> None:
        self.outcomes.append(outcome)

    async def process(self, delivery: HandDelivery) -> DeliveryOutcome:
        await self.worker.process(delivery)
        return self.outcomes[-1]


async def test_what_is_processed_is_acknowledged_and_its_attempts_are_cleared() -> None:
    bench, delivery = Bench(), hello(1)
    done = await bench.process(delivery)
    assert delivery.settled == ["ack"]
    assert (done.outcome, done.subject, done.place.sequence, done.contexts) == ("published", delivery.arrival.subject, 1, 1)
    assert 0 < (done.build or 0) <= done.seconds
    assert await bench.store.start_attempt(make_place(1)) == 1


@pytest.mark.parametrize("error", [ZeroDivisionError(), Rejected("the tally is full")])
async def test_an_observer_that_fails_is_in_the_log_and_stops_neither_the_delivery_nor_the_next_observer(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Observer):
        @override
        def delivered(self, outcome: DeliveryOutcome) -> None:
            raise error

    bench = Bench()
    bench.worker._observers = [("a tally", Broken()), ("the test", bench)]
    assert (await bench.process(hello(1))).outcome == "published"
    assert "a bug in a tally" in caplog.text


async def test_what_is_malformed_is_dead_lettered_and_rejected_with_its_reason() -> None:
    bench, delivery = Bench(), hello(1, workspace="elsewhere")
    done = await bench.process(delivery)
    assert delivery.settled == ["reject"]
    assert (done.outcome, done.kind) == ("rejected", "content")
    assert bench.publisher.letters == [(1, done.reason)]
    assert await bench.store.start_attempt(make_place(1)) == 2


async def test_a_rejection_that_cannot_be_reported_is_retried() -> None:
    bench, delivery = Bench(), hello(1, workspace="elsewhere")
    bench.publisher.is_away = True
    assert (await bench.process(delivery)).outcome == "unavailable"
    assert delivery.settled == ["retry after 0.001"]
    assert await bench.store.start_attempt(make_place(1)) == 1


async def test_while_the_store_is_away_pauses_grow_and_no_attempt_is_used_up() -> None:
    async def away(_: Breadcrumb) -> None:
        raise Unavailable("the disk is away")

    bench, delivery = Bench(away), hello(1)
    for _ in range(2 * ATTEMPTS):
        assert (await bench.process(delivery)).reason == "the disk is away"
    assert delivery.settled == [f"retry after {pause}" for pause in (0.001, 0.002, 0.004, 0.004, 0.004, 0.004)]
    assert bench.publisher.letters == []


async def test_nothing_else_is_tried_while_the_store_is_away() -> None:
    times: list[float] = []

    async def away_at_first(_: Breadcrumb) -> None:
        times.append(asyncio.get_running_loop().time())
        if len(times) == 1:
            raise Unavailable("the disk is away")

    bench = Bench(away_at_first, Pauses(first=0.1, longest=0.1))
    for delivery in (hello(1), hello(2, "s43")):
        await bench.process(delivery)
    assert times[1] >= times[0] + 0.1


async def test_a_store_that_cannot_even_undo_the_attempt_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async def away(_: Breadcrumb) -> None:
        raise Unavailable("the disk is away")

    bench, delivery = Bench(away), hello(1)
    bench.store.cannot_undo = True
    assert (await bench.process(delivery)).outcome == "unavailable"
    assert delivery.settled == ["retry after 0.001"]
    assert "is taken back by the next one" in caplog.text


async def test_a_bug_uses_up_attempts_until_the_delivery_is_rejected() -> None:
    async def buggy(_: Breadcrumb) -> None:
        raise RuntimeError("a bug")

    bench, delivery = Bench(buggy), hello(1)
    outcomes = [(await bench.process(delivery)).outcome for _ in range(ATTEMPTS)]
    assert outcomes == ["failed"] * (ATTEMPTS - 1) + ["rejected"]
    assert delivery.settled == ["retry after 0.001"] * (ATTEMPTS - 1) + ["reject"]
    assert bench.outcomes[0].reason == "RuntimeError"
    assert "2 attempts ended in a crash or a bug" in bench.publisher.letters[0][1]


async def test_a_shutdown_settles_nothing_and_costs_no_attempt() -> None:
    begun = asyncio.Event()

    async def endless(_: Breadcrumb) -> None:
        begun.set()
        await asyncio.Event().wait()

    bench, delivery = Bench(endless), hello(1)
    task = asyncio.create_task(bench.worker.process(delivery))
    await begun.wait()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert (delivery.settled, bench.outcomes, bench.log.in_work) == ([], [], set())
    assert await bench.store.start_attempt(make_place(1)) == 1


async def test_one_session_is_processed_in_order_with_signs_of_life_and_others_beside_it() -> None:
    gate, begun = asyncio.Event(), list[str]()

    async def gated(breadcrumb: Breadcrumb) -> None:
        begun.append(breadcrumb.id)
        if breadcrumb.id == "m1":
            await gate.wait()

    bench = Bench(gated)
    first, second, other = hello(1), hello(2), hello(3, "s43")
    tasks = [asyncio.create_task(bench.worker.process(each)) for each in (first, second, other)]
    async with asyncio.timeout(DEADLINE):
        await tasks[2]
        while min(first.beats, second.beats) < 3:
            await asyncio.sleep(0)
        assert (other.settled, second.settled) == (["ack"], [])
        gate.set()
        await asyncio.gather(*tasks)
    assert begun == ["m1", "m3", "m2"]


async def test_a_tombstone_of_no_session_waits_for_a_page_of_any_session_that_may_show_what_it_removes() -> None:
    gate = asyncio.Event()

    async def gated(breadcrumb: Breadcrumb) -> None:
        if breadcrumb.id == "m2":
            await gate.wait()

    bench = Bench(gated)
    note = HandDelivery(message_of(1, "note.v1", {"content": "Pinned on every page."}, "_"))
    page = hello(2)
    tombstone = HandDelivery(message_of(3, "breadcrumb.deleted.v1", {"breadcrumb_id": "m1"}, "_"))
    others = [hello(sequence, f"s{sequence}") for sequence in range(4, 9)]
    tasks = [asyncio.create_task(bench.worker.process(each)) for each in (note, page, tombstone, *others)]
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(tasks[0], *tasks[3:])
        assert (page.settled, tombstone.settled) == ([], [])
        gate.set()
        await asyncio.gather(*tasks)
    assert [done.place.sequence for done in bench.outcomes][-2:] == [2, 3]


async def test_a_delivery_that_takes_long_gives_signs_of_life() -> None:
    delivery = hello(1)

    async def slow(_: Breadcrumb) -> None:
        async with asyncio.timeout(DEADLINE):
            while delivery.beats < 3:
                await asyncio.sleep(0)

    assert (await Bench(slow).process(delivery)).outcome == "published"
    assert delivery.beats >= 3


async def test_a_subject_that_is_no_subject_is_rejected_and_stops_nothing() -> None:
    bench, delivery = Bench(), HandDelivery(hello(1).arrival, subject="nonsense")
    assert (await bench.process(delivery)).outcome == "rejected"
    assert (await bench.process(hello(2))).outcome == "published"


ONE, TWO = make_place(1), make_place(2)


@pytest.mark.parametrize("limit", [1, 3])
async def test_the_last_attempt_is_rejected_and_stays_counted(limit: int) -> None:
    store = durable_store()
    attempts = Attempts(make_log(MemoryStream(), store, max_attempts=limit))
    for _ in range(limit - 1):
        async with attempts.start(ONE):
            pass
    for _ in range(2):
        with pytest.raises(Rejected, match=r"attempts ended in a crash or a bug"):
            async with attempts.start(ONE):
                pytest.fail("it was tried")
    assert await store.start_attempt(ONE) == limit + 2


async def test_places_are_in_work_as_long_as_their_attempts_run() -> None:
    log = make_log(MemoryStream(), durable_store())
    attempts, in_work = Attempts(log), log.in_work
    for _ in range(2):
        async with attempts.start(ONE):
            assert in_work == {ONE}
        assert in_work == set()
    with pytest.raises(ValueError, match="a bug"):
        async with attempts.start(TWO):
            raise ValueError("a bug")
    assert in_work == set()


async def test_first_attempts_run_side_by_side_and_suspects_one_after_the_other() -> None:
    log, most = make_log(MemoryStream(), durable_store()), list[int]()
    attempts, running = Attempts(log), log.in_work

    async def run(place: Place) -> None:
        async with attempts.start(place):
            for _ in range(5):
                most.append(len(running))
                await asyncio.sleep(0)

    await asyncio.gather(run(ONE), run(TWO))
    assert max(most) == 2
    most.clear()
    await asyncio.gather(run(ONE), run(TWO))
    assert max(most) == 1
