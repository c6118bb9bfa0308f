"""Deliveries in work: a limited number, each given its time, the rest handed back."""

import asyncio

from builder.adapters.nats.delivery import InWork
from tests.factories import make_place
from tests.ports import HandDelivery
from tests.unit.adapters.nats.messages import make_message


def make_delivery(sequence: int = 1) -> HandDelivery:
    return HandDelivery(make_message(make_place(sequence)))


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
    slow, quick = make_delivery(1), make_delivery(2)
    work = InWork(2, lambda: None)
    work.begin(slow, wait_for(asyncio.Event()))
    work.begin(quick, quick.ack())
    await work.finish(0.01)
    assert (slow.settled, quick.settled) == (["retry after 0"], ["ack"])


async def test_nothing_in_work_is_finished_at_once() -> None:
    await InWork(1, lambda: None).finish(60)


async def wait_for(event: asyncio.Event) -> None:
    await event.wait()
