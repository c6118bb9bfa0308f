"""A tombstone erases from stream, store, contexts and letters, once, and again after a failure."""

import asyncio
from dataclasses import replace

import pytest

from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.erasure import Receipt
from builder.domain.errors import Unavailable
from builder.remember.decode import decode
from builder.worker.erasure import Erasure
from builder.worker.tombstones import Forgetting
from tests.conversations import message_of, sent
from tests.factories import make_place, remembered_of
from tests.ports import MemoryStream, make_log
from tests.stores import durable_store

TOMBSTONE = sent(9, "breadcrumb.deleted.v1", {"breadcrumb_id": "m1", "speaker": "Ana"}).breadcrumb


def hello(sequence: int, identity: str = "", version: int = 1) -> StreamMessage:
    body = {"content": f"Hello {sequence}."}
    return message_of(sequence, "user.message.v1", body, id=identity or f"m{sequence}", version=version)


class Bench:
    """Erasure over two versions of m1, and m2. drops: ids that were dropped from caches."""

    def __init__(self) -> None:
        self.stream = MemoryStream([hello(1), hello(2), hello(3, "m1", version=2)])
        self.stream.contexts = {7: ("contexts.a", frozenset({"m1", "m2"})), 8: ("contexts.b", frozenset({"m2"}))}
        self.stream.letters = ["m1", "m2"]
        self.store = durable_store()
        self.drops: list[frozenset[str]] = []
        self.erasure = Erasure(make_log(self.stream, self.store), self.stream, self.drop)

    def drop(self, _workspace: str, ids: frozenset[str]) -> int:
        self.drops.append(ids)
        return len(ids)

    async def erase(self, tombstone: Breadcrumb = TOMBSTONE) -> Receipt:
        (receipt,) = await self.erasure.erase((tombstone,))
        return receipt


async def nothing(_tombstone: Breadcrumb) -> tuple[Breadcrumb, ...]:
    return ()


async def test_every_trace_is_erased_and_the_receipt_counts_it() -> None:
    bench = Bench()
    receipt = await bench.erase()
    assert (receipt.workspace, receipt.session, receipt.id, receipt.by) == ("acme", "s42", "m1", "Ana")
    assert (receipt.versions, receipt.messages, receipt.contexts, receipt.dead_letters, receipt.cached) == (2, 2, 1, 1, 1)
    assert [message.place.sequence for message in bench.stream.messages] == [2]
    assert (list(bench.stream.contexts), bench.stream.stubs, bench.stream.letters) == ([8], ["contexts.a"], ["m2"])
    assert await bench.store.versions("acme", "m1") == ()
    assert [crumb.id for crumb in await bench.store.versions("acme", "m2")] == ["m2"]


async def test_it_catches_up_first_so_that_nothing_older_is_stored_later() -> None:
    bench = Bench()
    await bench.erase()
    assert not await bench.store.remember(remembered_of(decode(hello(1))))


async def test_requests_at_once_and_later_ones_get_the_same_receipt() -> None:
    bench = Bench()
    first, second = await asyncio.gather(bench.erase(), bench.erase())
    assert first is second
    assert await bench.erase() is first
    assert len(bench.drops) == 1


async def test_a_run_that_failed_is_repeated() -> None:
    bench = Bench()
    bench.stream.is_away = True
    with pytest.raises(Unavailable):
        await bench.erase()
    bench.stream.is_away = False
    assert (await bench.erase()).versions == 2


async def test_a_request_that_is_cancelled_does_not_stop_the_run() -> None:
    bench = Bench()
    request = asyncio.create_task(bench.erase())
    await asyncio.sleep(0)
    request.cancel()
    await asyncio.wait({request})
    assert (await bench.erase()).versions == 2
    assert len(bench.drops) == 1


async def test_the_worker_replaces_contexts_that_were_being_built_during_an_earlier_run() -> None:
    bench = Bench()
    await bench.erase()
    bench.stream.contexts[9] = ("contexts.c", frozenset({"m1"}))
    await bench.erasure.erase_in_order(TOMBSTONE, nothing)
    assert bench.stream.stubs == ["contexts.a", "contexts.c"]
    assert len(bench.drops) == 2


async def test_the_worker_that_comes_first_erases_once() -> None:
    bench = Bench()
    await bench.erasure.erase_in_order(TOMBSTONE, nothing)
    assert len(bench.drops) == 1


async def test_versions_behind_the_tombstone_stay() -> None:
    bench = Bench()
    await bench.erase(replace(TOMBSTONE, place=make_place(3)))
    assert [message.place.sequence for message in bench.stream.messages] == [2, 3]


async def test_tombstones_are_erased_in_one_walk_of_each_stream_and_each_has_its_receipt() -> None:
    bench = Bench()
    other = sent(10, "breadcrumb.deleted.v1", {"breadcrumb_id": "m2"}).breadcrumb
    first, second = await bench.erasure.erase((TOMBSTONE, other))
    assert [(each.id, each.versions, each.messages, each.dead_letters) for each in (first, second)] == [
        ("m1", 2, 2, 1),
        ("m2", 1, 1, 1),
    ]
    assert (first.contexts, second.contexts) == (1, 1)
    assert (bench.stream.deletions, bench.stream.contexts_read, bench.stream.contexts) == (1, [7, 8], {})


async def test_a_copy_is_deleted_only_while_its_id_is_closed() -> None:
    """A secret of another session was stored before the message that stands before it, and closed what its speaker edited."""
    bench = Bench()
    secret = replace(decode(hello(2, "m1", version=9)), session="other", removes="m1", text="")
    edit = decode(hello(3, "m1", version=2))
    assert await bench.store.remember(remembered_of(secret))
    assert not await bench.store.remember(remembered_of(edit))
    log = make_log(bench.stream, bench.store)
    await Forgetting(log, bench.erasure, bench.stream).discard(edit)
    assert [message.place.sequence for message in bench.stream.messages] == [1, 2, 3]
    await log.catch_up("acme", "s42")
    assert [crumb.version for crumb in await bench.store.versions("acme", "m1")] == [1, 2]


async def test_the_worker_erases_with_a_tombstone_those_that_stand_behind_it() -> None:
    bench = Bench()
    other = sent(10, "breadcrumb.deleted.v1", {"breadcrumb_id": "m2"}).breadcrumb

    async def behind(_tombstone: Breadcrumb) -> tuple[Breadcrumb, ...]:
        return (other,)

    await bench.erasure.erase_in_order(TOMBSTONE, behind)
    await bench.erasure.erase_in_order(other, nothing)
    assert (bench.stream.deletions, bench.stream.contexts_read, bench.stream.contexts) == (1, [7, 8], {})
    assert await bench.store.versions("acme", "m2") == ()


async def test_the_last_tombstone_of_a_session_replaces_for_all_of_its_run_what_was_published_meanwhile() -> None:
    bench = Bench()
    other = sent(10, "breadcrumb.deleted.v1", {"breadcrumb_id": "m2"}).breadcrumb
    elsewhere = replace(other, id="d3", session="s43", removes="m3", place=make_place(11))
    await bench.erasure.erase((TOMBSTONE, other, elsewhere))
    bench.stream.contexts = {9: ("contexts.c", frozenset({"m1"})), 10: ("contexts.d", frozenset({"m2"}))}
    looks = len(bench.drops)
    await bench.erasure.erase_in_order(TOMBSTONE, nothing)
    assert len(bench.drops) == looks
    await bench.erasure.erase_in_order(other, nothing)
    assert (len(bench.drops), bench.stream.contexts, bench.stream.deletions) == (looks + 1, {}, 2)


async def test_after_a_run_that_failed_the_first_tombstone_erases_for_all_of_them() -> None:
    bench = Bench()
    other = sent(10, "breadcrumb.deleted.v1", {"breadcrumb_id": "m2"}).breadcrumb
    bench.stream.is_away = True
    with pytest.raises(Unavailable):
        await bench.erasure.erase((TOMBSTONE, other))
    bench.stream.is_away = False
    await bench.erasure.erase_in_order(TOMBSTONE, nothing)
    assert (bench.stream.messages, bench.stream.contexts, bench.stream.deletions) == ([], {}, 1)


async def test_a_bug_about_one_tombstone_does_not_keep_the_others_of_its_run_from_being_erased() -> None:
    bench = Bench()
    other = sent(10, "breadcrumb.deleted.v1", {"breadcrumb_id": "m2"}).breadcrumb
    erase = bench.store.erase

    async def faulty(workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
        if identity == "m2":
            raise ZeroDivisionError
        return await erase(workspace, session, identity, until)

    bench.store.erase = faulty  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError):
        await bench.erasure.erase((TOMBSTONE, other))
    with pytest.raises(ZeroDivisionError):
        await bench.erasure.erase_in_order(other, nothing)
    await bench.erasure.erase_in_order(TOMBSTONE, nothing)
    assert [message.place.sequence for message in bench.stream.messages] == [2]
    assert bench.stream.letters == ["m2"]
