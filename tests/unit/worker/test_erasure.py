"""A tombstone erases from stream, store, contexts and letters, once, and again after a failure."""

import asyncio
from dataclasses import replace

import pytest

from builder.domain.breadcrumb import StreamMessage
from builder.domain.errors import Unavailable
from builder.remember.decode import decode
from builder.worker.erasure import ContextEraser, Erasure, Forgetting
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


async def test_every_trace_is_erased_and_the_receipt_counts_it() -> None:
    bench = Bench()
    receipt = await bench.erasure.erase(TOMBSTONE)
    assert (receipt.workspace, receipt.session, receipt.id, receipt.by) == ("acme", "s42", "m1", "Ana")
    assert (receipt.versions, receipt.messages, receipt.contexts, receipt.dead_letters, receipt.cached) == (2, 2, 1, 1, 1)
    assert [message.place.sequence for message in bench.stream.messages] == [2]
    assert (list(bench.stream.contexts), bench.stream.stubs, bench.stream.letters) == ([8], ["contexts.a"], ["m2"])
    assert await bench.store.versions("acme", "m1") == ()
    assert [crumb.id for crumb in await bench.store.versions("acme", "m2")] == ["m2"]


async def test_it_catches_up_first_so_that_nothing_older_is_stored_later() -> None:
    bench = Bench()
    await bench.erasure.erase(TOMBSTONE)
    assert not await bench.store.remember(remembered_of(decode(hello(1))))


async def test_requests_at_once_and_later_ones_get_the_same_receipt() -> None:
    bench = Bench()
    first, second = await asyncio.gather(bench.erasure.erase(TOMBSTONE), bench.erasure.erase(TOMBSTONE))
    assert first is second
    assert await bench.erasure.erase(TOMBSTONE) is first
    assert len(bench.drops) == 1


async def test_a_run_that_failed_is_repeated() -> None:
    bench = Bench()
    bench.stream.is_away = True
    with pytest.raises(Unavailable):
        await bench.erasure.erase(TOMBSTONE)
    bench.stream.is_away = False
    assert (await bench.erasure.erase(TOMBSTONE)).versions == 2


async def test_a_request_that_is_cancelled_does_not_stop_the_run() -> None:
    bench = Bench()
    request = asyncio.create_task(bench.erasure.erase(TOMBSTONE))
    await asyncio.sleep(0)
    request.cancel()
    await asyncio.wait({request})
    assert (await bench.erasure.erase(TOMBSTONE)).versions == 2
    assert len(bench.drops) == 1


async def test_the_worker_replaces_contexts_that_were_being_built_during_an_earlier_run() -> None:
    bench = Bench()
    await bench.erasure.erase(TOMBSTONE)
    bench.stream.contexts[9] = ("contexts.c", frozenset({"m1"}))
    await bench.erasure.erase_in_order(TOMBSTONE)
    assert bench.stream.stubs == ["contexts.a", "contexts.c"]
    assert len(bench.drops) == 2


async def test_the_worker_that_comes_first_erases_once() -> None:
    bench = Bench()
    await bench.erasure.erase_in_order(TOMBSTONE)
    assert len(bench.drops) == 1


async def test_versions_behind_the_tombstone_stay() -> None:
    bench = Bench()
    await bench.erasure.erase(replace(TOMBSTONE, place=make_place(3)))
    assert [message.place.sequence for message in bench.stream.messages] == [2, 3]


async def test_a_stub_that_a_crash_left_pending_is_published_first() -> None:
    store, stream = durable_store(), MemoryStream()
    stream.contexts = {7: ("contexts.b", frozenset({"m1"}))}
    await store.add_stub("contexts.a")
    assert await ContextEraser(store, stream).replace("acme", frozenset({"m1"})) == 1
    assert stream.stubs == ["contexts.a", "contexts.b"]
    assert await store.pending_stubs() == ()


async def test_a_stub_is_pending_until_it_is_published() -> None:
    store, stream = durable_store(), MemoryStream()
    stream.contexts, stream.is_away = {7: ("contexts.b", frozenset({"m1"}))}, True
    with pytest.raises(Unavailable):
        await ContextEraser(store, stream).replace("acme", frozenset({"m1"}))
    assert await store.pending_stubs() == ("contexts.b",)


async def test_a_copy_is_deleted_only_while_its_id_is_closed() -> None:
    """A secret of another session was stored before the message that stands before it, and closed what its speaker edited."""
    bench = Bench()
    secret = replace(decode(hello(2, "m1", version=9)), session="other", removes="m1", text="")
    edit = decode(hello(3, "m1", version=2))
    assert await bench.store.remember(remembered_of(secret))
    assert not await bench.store.remember(remembered_of(edit))
    log = make_log(bench.stream, bench.store)
    await Forgetting(log, bench.erasure, bench.stream, bench.stream).discard(edit)
    assert [message.place.sequence for message in bench.stream.messages] == [1, 2, 3]
    await log.catch_up("acme", "s42")
    assert [crumb.version for crumb in await bench.store.versions("acme", "m1")] == [1, 2]
