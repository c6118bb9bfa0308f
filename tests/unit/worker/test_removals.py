"""Tombstones that another worker took are followed once each, from where the last look ended."""

from collections.abc import AsyncIterator

from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.remember.decode import decode
from builder.worker.removals import LAST_TOMBSTONE, REPEAT_SECONDS, Removals
from tests.conversations import message_of
from tests.factories import make_place
from tests.memory_store.store import MemoryStore


def tombstone(sequence: int, identity: str) -> StreamMessage:
    return message_of(sequence, "breadcrumb.deleted.v1", {"breadcrumb_id": identity})


class Bench:
    """A stream with tombstones. erased: ids for which this worker's store was erased."""

    def __init__(self) -> None:
        self.messages = [tombstone(1, "old")]
        self.end = 3
        self.erased: list[str] = []
        self.store = MemoryStore()
        self.clock = 0.0
        self.removals = self.begin()

    def begin(self) -> Removals:
        return Removals(self.tombstones, self.last, decode, self.erase, self.store, clock=lambda: self.clock)

    async def tombstones(self, after: Place, until: Place) -> AsyncIterator[StreamMessage]:
        for message in self.messages:
            if after < message.place < until:
                yield message

    async def last(self) -> Place:
        return make_place(self.end)

    async def erase(self, crumb: Breadcrumb) -> None:
        self.erased.append(crumb.removes)


async def test_a_store_that_never_looked_begins_at_the_end_and_each_later_tombstone_is_followed_once() -> None:
    bench = Bench()
    assert await bench.removals.look() == 0
    bench.messages += [tombstone(4, "m1"), tombstone(6, "m2")]
    bench.end = 7
    assert await bench.removals.look() == 2
    assert await bench.removals.look() == 0
    assert bench.erased == ["m1", "m2"]
    bench.clock += REPEAT_SECONDS
    await bench.removals.look()
    assert await bench.store.watermark(*LAST_TOMBSTONE) == make_place(7)


async def test_a_tombstone_is_followed_once_more_later_for_what_was_on_its_way_into_the_store_also_after_a_crash() -> None:
    bench = Bench()
    await bench.removals.look()
    bench.messages.append(tombstone(4, "m1"))
    bench.end = 7
    await bench.removals.look()
    bench.removals = bench.begin()
    await bench.removals.look()
    await bench.removals.look()
    assert bench.erased == ["m1", "m1"]
    bench.clock += REPEAT_SECONDS
    await bench.removals.look()
    await bench.removals.look()
    assert bench.erased == ["m1", "m1", "m1"]


async def test_what_cannot_be_read_is_passed_over() -> None:
    bench = Bench()
    await bench.removals.look()
    bench.messages += [message_of(4, "breadcrumb.deleted.v1", {}), tombstone(5, "m1")]
    bench.end = 5
    assert await bench.removals.look() == 1
    assert bench.erased == ["m1"]
