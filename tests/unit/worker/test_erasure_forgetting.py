"""Tombstones that another worker took are followed once each, from where the last look ended."""

from types import SimpleNamespace
from typing import cast

from builder.domain.breadcrumb import Breadcrumb, StreamMessage
from builder.worker.erasure import LAST_TOMBSTONE, REPEAT_SECONDS, Erasure, Forgetting
from tests.conversations import message_of
from tests.factories import make_place
from tests.ports import MemoryStream, make_log
from tests.stores import durable_store


def tombstone(sequence: int, identity: str) -> StreamMessage:
    return message_of(sequence, "breadcrumb.deleted.v1", {"breadcrumb_id": identity})


class Bench:
    """A stream with tombstones. erased: ids for which this worker's store was erased."""

    def __init__(self) -> None:
        self.stream = MemoryStream([tombstone(1, "old")])
        self.erased: list[str] = []
        self.store = durable_store()
        self.clock = 0.0
        self.forgetting = self.begin()
        self.extend(3)

    def begin(self) -> Forgetting:
        log = make_log(self.stream, self.store)
        erasure = cast("Erasure", SimpleNamespace(erase_here=self.erase, erase_again=self.erase_again))
        return Forgetting(log, erasure, self.stream, self.stream, clock=lambda: self.clock)

    def extend(self, end: int, *messages: StreamMessage) -> None:
        """Add these messages, and one that is no tombstone at the end."""
        note = message_of(end, "note.v1", {"content": "A note."})
        self.stream.messages += [*messages, note]

    async def erase_again(self, crumbs: list[Breadcrumb]) -> None:
        self.erased += [crumb.removes for crumb in crumbs]

    async def erase(self, crumb: Breadcrumb) -> None:
        self.erased.append(crumb.removes)


async def test_a_store_that_never_looked_begins_at_the_end_and_each_later_tombstone_is_followed_once() -> None:
    bench = Bench()
    assert await bench.forgetting.follow() == 0
    bench.extend(7, tombstone(4, "m1"), tombstone(6, "m2"))
    assert await bench.forgetting.follow() == 2
    assert await bench.forgetting.follow() == 0
    assert bench.erased == ["m1", "m2"]
    bench.clock += REPEAT_SECONDS
    await bench.forgetting.follow()
    assert await bench.store.watermark(*LAST_TOMBSTONE) == make_place(7)


async def test_a_tombstone_is_followed_once_more_later_for_what_was_on_its_way_into_the_store_also_after_a_crash() -> None:
    bench = Bench()
    await bench.forgetting.follow()
    bench.extend(7, tombstone(4, "m1"))
    await bench.forgetting.follow()
    bench.forgetting = bench.begin()
    await bench.forgetting.follow()
    await bench.forgetting.follow()
    assert bench.erased == ["m1", "m1"]
    bench.clock += REPEAT_SECONDS
    await bench.forgetting.follow()
    await bench.forgetting.follow()
    assert bench.erased == ["m1", "m1", "m1"]


async def test_what_cannot_be_read_is_passed_over() -> None:
    bench = Bench()
    await bench.forgetting.follow()
    bench.extend(6, message_of(4, "breadcrumb.deleted.v1", {}), tombstone(5, "m1"))
    assert await bench.forgetting.follow() == 1
    assert bench.erased == ["m1"]


async def test_how_far_another_worker_of_a_shared_store_has_looked_is_not_how_far_this_one_has() -> None:
    bench = Bench()
    await bench.forgetting.follow()
    bench.extend(7, tombstone(4, "m1"))
    await bench.store.advance(*LAST_TOMBSTONE, make_place(7))
    assert await bench.forgetting.follow() == 1
    assert bench.erased == ["m1"]
