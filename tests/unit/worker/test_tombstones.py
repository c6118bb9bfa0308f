"""Tombstones that another worker took are followed once each, from where the last look ended."""

from types import SimpleNamespace
from typing import Any, cast

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, StreamMessage
from builder.worker.erasure import Erasure
from builder.worker.tombstones import LAST_TOMBSTONE, REPEAT_SECONDS, Forgetting
from tests.conversations import deleted, message_of, sent
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
        return Forgetting(log, erasure, self.stream, clock=lambda: self.clock)

    def extend(self, end: int, *messages: StreamMessage) -> None:
        """Add these messages, and one that is no tombstone at the end."""
        note = message_of(end, "note.v1", {"content": "A note."})
        self.stream.messages += [*messages, note]

    async def erase_again(self, crumbs: list[Breadcrumb]) -> None:
        self.erased += [crumb.removes for crumb in crumbs]

    async def erase(self, crumbs: tuple[Breadcrumb, ...]) -> None:
        self.erased += [crumb.removes for crumb in crumbs]


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


class Line:
    """Forgetting over these messages."""

    def __init__(self, *messages: StreamMessage) -> None:
        self.store, self.stream = durable_store(), MemoryStream(messages)
        log = make_log(self.stream, self.store)
        self.forgetting = Forgetting(log, Erasure(log, self.stream, lambda _workspace, _ids: 0), self.stream)


async def test_after_a_crash_the_first_tombstone_erases_for_all_that_wait_behind_it() -> None:
    hello = [message_of(number, "user.message.v1", {"content": "Hello."}, f"s{number % 2}") for number in range(1, 7)]
    waiting = [
        message_of(10 + number, "breadcrumb.deleted.v1", {"breadcrumb_id": f"m{number}"}, f"s{number % 2}")
        for number in range(1, 7)
    ]
    line = Line(*hello, *waiting)
    line.stream.contexts = {number: (f"contexts.{number}", frozenset({f"m{number}"})) for number in range(1, 7)}
    tombstones = [deleted(10 + number, f"m{number}", f"s{number % 2}").breadcrumb for number in range(1, 7)]
    for tombstone in tombstones:
        await line.forgetting.apply(tombstone)
    assert [message.place.sequence for message in line.stream.messages] == [message.place.sequence for message in waiting]
    assert (line.stream.contexts, line.stream.contexts_read, line.stream.deletions) == ({}, [1, 2, 3, 4, 5, 6], 2)


async def test_a_tombstone_that_is_refused_erases_nothing_with_another_one() -> None:
    hello = message_of(1, "user.message.v1", {"content": "Hello."}), message_of(2, "user.message.v1", {"content": "Hi."})
    line = Line(*hello, message_of(3, "breadcrumb.deleted.v1", {"breadcrumb_id": "m2"}, id="m2"))
    await line.forgetting.apply(deleted(2, "elsewhere").breadcrumb)
    assert [message.place.sequence for message in line.stream.messages] == [1, 2, 3]


async def test_the_first_version_of_a_secret_erases_its_own_message_and_leaves_a_tombstone_that_closes_its_id() -> None:
    message = message_of(1, "secret.v1", {"value": "hunter2"})
    bench = Line(message)
    secret = sent(1, "secret.v1", {"value": "hunter2"})
    await bench.store.remember(secret)
    await bench.forgetting.apply(secret.breadcrumb)
    assert [message.subject for message in bench.stream.messages] == ["breadcrumbs.acme.s42.breadcrumb.deleted.v1"]


async def test_a_secret_under_the_id_of_a_readable_breadcrumb_erases_that_by_a_tombstone() -> None:
    marks: dict[str, Any] = {"id": "m1", "version": 2, "sensitivity": "secret"}
    bench = Line(message_of(1, "note.v1", {"content": "Hello."}), message_of(2, "note.v1", {}, **marks))
    secret = sent(2, "note.v1", {}, **marks)
    for row in (sent(1, "note.v1", {"content": "Hello."}), secret):
        await bench.store.remember(row)
    await bench.forgetting.apply(secret.breadcrumb)
    assert [message.subject for message in bench.stream.messages] == ["breadcrumbs.acme.s42.breadcrumb.deleted.v1"]
    assert await bench.store.versions("acme", "m1") == ()


async def test_a_tombstone_of_no_session_erases_in_all() -> None:
    bench = Line(message_of(1, "user.message.v1", {"content": "Hello."}), message_of(2, "user.message.v1", {}, "s43", id="m1"))
    tombstone = deleted(9, "m1", NO_SESSION).breadcrumb
    await bench.forgetting.apply(tombstone)
    assert await bench.store.versions("acme", "m1") == ()
