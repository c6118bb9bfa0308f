"""Contexts and letters are compared with the same ids once, and a crash between a removal and its stub is made good."""

import pytest

from builder.domain.errors import Unavailable
from builder.worker.stream_erasers import MAX_IDS, ContextEraser, LetterEraser, Look
from tests.ports import MemoryStream
from tests.stores import durable_store


def ids(*names: str) -> frozenset[str]:
    return frozenset(names)


async def test_for_ids_that_were_looked_for_only_what_came_since_is_read() -> None:
    store, stream = durable_store(), MemoryStream()
    stream.contexts = {7: ("contexts.a", ids("m1", "m2")), 8: ("contexts.b", ids("m3")), 9: ("contexts.c", ids("m2"))}
    eraser = ContextEraser(store, stream)
    assert await eraser.count("acme", ids("m1", "m2")) == {"m1": 1, "m2": 1}
    assert await eraser.replace("acme", ids("m1")) == {"m1": 1}
    stream.contexts[10] = ("contexts.d", ids("m2"))
    assert await eraser.replace("acme", ids("m2")) == {"m2": 2}
    assert stream.contexts_read == [7, 8, 9, 10]
    assert list(stream.contexts) == [8]
    assert await eraser.replace("acme", ids("m3")) == {"m3": 1}
    assert stream.contexts_read[4:] == [8]


async def test_a_stub_is_not_read_unless_something_else_came_before_it() -> None:
    store, stream = durable_store(), MemoryStream()
    stream.contexts = {7: ("contexts.a", ids("m1")), 8: ("contexts.b", ids("m2")), 9: ("contexts.c", ids("m3"))}
    eraser = ContextEraser(store, stream)
    stream.stub_sequences = [10, 11, 13]
    assert await eraser.replace("acme", ids("m1", "m2", "m3")) == {"m1": 1, "m2": 1, "m3": 1}
    stream.contexts = {
        10: ("contexts.a", ids()),
        11: ("contexts.b", ids()),
        12: ("contexts.d", ids("m1")),
        13: ("contexts.c", ids()),
    }
    assert await eraser.replace("acme", ids("m1")) == {"m1": 1}
    assert stream.contexts_read == [7, 8, 9, 12, 13]


async def test_letters_about_ids_and_all_letters_of_a_session() -> None:
    stream = MemoryStream()
    stream.letters = ["m1", "m2", "m3"]
    eraser = LetterEraser(stream)
    assert await eraser.delete("acme", ids("m1", "m4")) == {"m1": 1}
    assert await eraser.delete_of("acme", "s42", ids("m2")) == {"m2": 1}
    assert await eraser.delete_of("acme", "s42") == {"": 1}


def test_a_look_keeps_so_many_ids_in_mind() -> None:
    look = Look()
    many = ids(*map(str, range(MAX_IDS)))
    assert look.begin(many)
    assert not look.begin(ids("1"))
    look.reached = 5
    assert look.begin(ids("m1"))
    assert (look.ids, look.reached) == (ids("m1"), 0)


async def test_a_stub_that_a_crash_left_pending_is_published_first() -> None:
    store, stream = durable_store(), MemoryStream()
    stream.contexts = {7: ("contexts.b", frozenset({"m1"}))}
    await store.add_stub("contexts.a")
    assert await ContextEraser(store, stream).replace("acme", frozenset({"m1"})) == {"m1": 1}
    assert stream.stubs == ["contexts.a", "contexts.b"]
    assert await store.pending_stubs() == ()


async def test_a_stub_is_pending_until_it_is_published() -> None:
    store, stream = durable_store(), MemoryStream()
    stream.contexts, stream.is_away = {7: ("contexts.b", frozenset({"m1"}))}, True
    with pytest.raises(Unavailable):
        await ContextEraser(store, stream).replace("acme", frozenset({"m1"}))
    assert await store.pending_stubs() == ("contexts.b",)
