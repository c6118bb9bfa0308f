"""What a store is compared with and filled by when it is built from the stream, and what operators watch."""

import pytest

from builder.domain.errors import Unavailable
from builder.ports.store import CompleteStore
from tests.factories import FAR, MODEL, bare, make_answer, make_place, make_question, make_remembered


async def test_a_store_names_the_engines_of_its_vectors(store: CompleteStore) -> None:
    assert await store.models() == frozenset()
    await store.remember(make_remembered())
    await store.remember(bare(make_remembered(sequence=2)))
    assert await store.models() == {MODEL, ""}


async def test_breadcrumbs_below_a_place_are_counted(store: CompleteStore) -> None:
    for sequence in (1, 2, 3):
        await store.remember(make_remembered(sequence=sequence))
    assert [await store.count_before(make_place(sequence)) for sequence in (1, 3, 9)] == [0, 2, 3]


async def test_many_breadcrumbs_are_stored_together_and_each_once(store: CompleteStore) -> None:
    rows = tuple(make_remembered(sequence=sequence) for sequence in (1, 2))
    assert await store.remember_all(rows) == 2
    assert await store.remember_all((*rows, make_remembered(sequence=3))) == 1
    assert await store.count() == 3


async def test_of_many_breadcrumbs_none_is_stored_when_one_cannot_be(store: CompleteStore) -> None:
    await store.remember(make_remembered(sequence=1))
    intruder = make_remembered(sequence=1, id="intruder")
    with pytest.raises(Unavailable):
        await store.remember_all((make_remembered(sequence=2), intruder))
    assert await store.count() == 1


async def test_the_first_request_of_each_session_is_an_origin_erased_or_not(store: CompleteStore) -> None:
    for row in (make_question(1), make_question(2), make_question(3, session="s43")):
        await store.remember(row)
    await store.erase("acme", "s43", "m3", FAR)
    origins = await store.call_origins(make_place(1).incarnation)
    assert [(origin.session, origin.sequence) for origin in origins] == [("s42", 1), ("s43", 3)]
    assert await store.call_origins(make_place(1).incarnation + 1) == ()


async def test_origins_of_an_older_store_decide_where_an_answer_belongs(store: CompleteStore) -> None:
    await store.remember(make_question(1))
    (origin,) = await store.call_origins(make_place(1).incarnation)
    await store.add_call_origins((origin._replace(session="s43", sequence=2),))
    await store.remember(make_answer(3))
    assert len(await store.call_origins(make_place(1).incarnation)) == 2


async def test_a_store_that_works_has_nothing_to_report_and_grows(store: CompleteStore) -> None:
    before = store.size_bytes()
    assert (await store.check(), store.refusal) == ("", "")
    await store.remember(make_remembered("word " * 2_000))
    assert store.size_bytes() >= before
    free = store.free_bytes()
    assert free is None or free > 0
