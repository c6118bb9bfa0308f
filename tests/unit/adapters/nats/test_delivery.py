"""Deliveries in work: a limited number, each given its time, the rest handed back."""

import asyncio

from builder.adapters.nats.delivery import MAX_OPEN_BYTES, InWork
from builder.domain.breadcrumb import StreamMessage
from tests.factories import MORNING, make_place
from tests.ports import HandDelivery


def make_delivery(sequence: int = 1, session: str = "s1", data: bytes = b"{}") -> HandDelivery:
    subject = f"breadcrumbs.acme.{session}.user.message.v1"
    return HandDelivery(StreamMessage(subject=subject, data=data, place=make_place(sequence), received_at=MORNING))


async def test_places_are_taken_while_work_goes_on_and_freed_when_it_ends() -> None:
    freed, done = list[int](), asyncio.Event()
    work = InWork(2, lambda: freed.append(work.free))
    work.begin(make_delivery(), wait_for(done))
    assert work.free == 1
    done.set()
    await work.finish(1)
    await asyncio.sleep(0)
    assert (work.free, freed) == (2, [2])


async def test_work_that_ends_in_time_settles_its_delivery_itself() -> None:
    delivery = make_delivery()
    work = InWork(2, lambda: None)
    work.begin(delivery, delivery.ack())
    await work.finish(1)
    assert delivery.settled == ["ack"]


async def test_work_that_does_not_end_in_time_is_cancelled_and_handed_back_at_once() -> None:
    slow, quick = make_delivery(1), make_delivery(2, "s2")
    work = InWork(2, lambda: None)
    work.begin(slow, wait_for(asyncio.Event()))
    work.begin(quick, quick.ack())
    await work.finish(0.01)
    assert (slow.settled, quick.settled) == (["retry after 0"], ["ack"])


async def test_the_burst_of_a_session_takes_one_place_until_very_many_are_open() -> None:
    work, done = InWork(3, lambda: None, most=6), asyncio.Event()
    free = []
    for sequence, session in enumerate(("s1", "s1", "s1", "s2", "s2", "s2"), 1):
        work.begin(make_delivery(sequence, session), wait_for(done))
        free.append(work.free)
    assert free == [2, 2, 2, 1, 1, 0]
    done.set()
    await work.finish(1)
    await asyncio.sleep(0)
    assert (work.free, work.is_empty) == (3, True)


async def test_no_more_are_fetched_than_memory_has_room_for() -> None:
    work = InWork(3, lambda: None, most=600)
    for sequence in range(2):
        work.begin(make_delivery(sequence, data=bytes(MAX_OPEN_BYTES // 2)), wait_for(asyncio.Event()))
    assert work.free == 0
    await work.finish(0)
    await asyncio.sleep(0)
    assert work.free == 3


async def test_what_waits_for_the_first_of_its_session_is_handed_back_when_work_ends() -> None:
    deliveries = [make_delivery(sequence) for sequence in (1, 2, 3)]
    work, done = InWork(2, lambda: None, most=9), asyncio.Event()
    for delivery in deliveries:
        work.begin(delivery, settle(delivery, done))
    asyncio.get_running_loop().call_soon(done.set)
    await work.finish(60)
    assert [delivery.settled for delivery in deliveries] == [["ack"], ["retry after 0"], ["retry after 0"]]


async def test_nothing_in_work_is_finished_at_once() -> None:
    await InWork(1, lambda: None).finish(60)


async def settle(delivery: HandDelivery, event: asyncio.Event) -> None:
    await event.wait()
    await delivery.ack()


async def wait_for(event: asyncio.Event) -> None:
    await event.wait()
