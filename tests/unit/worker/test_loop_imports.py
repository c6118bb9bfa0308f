"""Imported breadcrumbs are remembered while nobody waits, and the live ones are left to the inbox."""

import asyncio

from typing_extensions import override

from builder.ports.stream import Delivery
from builder.worker.jobs import Pace
from builder.worker.loop import Imports, Worker
from tests.conversations import message_of
from tests.ports import HandDelivery


def hello(sequence: int, *, replay: bool) -> HandDelivery:
    return HandDelivery(message_of(sequence, "user.message.v1", {"content": f"Hello {sequence}."}), replay=replay)


class Settling(Worker):
    """Settles, and notes whether a live delivery was in work."""

    def __init__(self, looks_until_idle: int = 0) -> None:
        self.looks = looks_until_idle
        self.processed: list[int] = []

    def is_busy(self) -> bool:
        self.looks -= 1
        return self.looks >= 0

    @override
    async def process(self, delivery: Delivery) -> None:
        self.processed.append(delivery.arrival.place.sequence)
        await delivery.ack()


async def test_a_live_breadcrumb_is_left_to_the_inbox() -> None:
    worker, live = Settling(), hello(1, replay=False)
    await Imports(worker, worker.is_busy, 10, Pace()).process(live)
    assert (live.settled, worker.processed) == (["ack"], [])


async def test_an_imported_one_waits_while_live_ones_are_in_work() -> None:
    worker, imported = Settling(looks_until_idle=3), hello(1, replay=True)
    await Imports(worker, worker.is_busy, 10, Pace(wait=0, max_waits=9)).process(imported)
    assert (imported.settled, worker.processed, worker.looks) == (["ack"], [1], -1)


async def test_under_steady_load_imported_ones_come_too() -> None:
    worker, imported = Settling(looks_until_idle=1_000), hello(1, replay=True)
    await Imports(worker, worker.is_busy, 10, Pace(wait=0, max_waits=9)).process(imported)
    assert (worker.processed, worker.looks) == ([1], 1_000 - 10)


async def test_they_are_kept_alive_while_they_wait_and_processed_in_order() -> None:
    worker = Settling(looks_until_idle=40)
    imports = Imports(worker, worker.is_busy, 0.001, Pace(wait=0.001, max_waits=9))
    deliveries = [hello(sequence, replay=True) for sequence in range(1, 7)]
    await asyncio.gather(*map(imports.process, deliveries))
    assert worker.processed == [1, 2, 3, 4, 5, 6]
    assert all(delivery.beats for delivery in deliveries[2:])
