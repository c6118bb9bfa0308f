"""The contract of large workspaces: one suite over every store."""

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Place
from builder.domain.recall import EVERY_SESSION
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import CompleteStore as Store
from tests.contract.test_store import remember_all
from tests.factories import FAR, MODEL, make_place, make_remembered


def said(sequence: int, session: str = "mon", **changes: object) -> StoredBreadcrumb:
    return make_remembered(f"Said {sequence}.", sequence, session=session, **changes)


async def ids(store: Store, *sequences: int, session: str = "mon", reach: int = 1, until: Place = FAR) -> list[str]:
    """Ids of the rows around these places, sorted by place."""
    places = {session: frozenset(map(make_place, sequences))}
    rows = await store.stretches("acme", places, reach, until, MODEL)
    assert len({row.breadcrumb.place for row in rows}) == len(rows)
    return [row.breadcrumb.id for row in sorted(rows, key=lambda row: row.breadcrumb.place)]


async def test_a_workspace_outgrows_a_number_of_rows_when_it_has_more_before_a_place(store: Store) -> None:
    await remember_all(store, said(1), said(2, "tue"), said(3))
    assert await store.outgrows("acme", 2, make_place(4))
    assert not await store.outgrows("acme", 3, make_place(4))
    assert not await store.outgrows("acme", 2, make_place(3))
    assert not await store.outgrows("other", 0, FAR)


async def test_erased_rows_still_count_so_that_a_workspace_never_shrinks(store: Store) -> None:
    await remember_all(store, said(1), said(2))
    await store.erase("acme", "mon", "m1", FAR)
    assert await store.outgrows("acme", 1, FAR)


async def test_passages_come_by_place_with_what_a_sketch_keeps(store: Store) -> None:
    row = said(1)
    await remember_all(store, said(3), row, said(2, "tue"))
    facts, end = await store.passages("acme", EVERY_SESSION, (ORIGIN, make_place(2)), 10, MODEL)
    assert [(fact.session, fact.place) for fact in facts] == [("mon", make_place(1)), ("tue", make_place(2))]
    assert (facts[0].ordinal, facts[0].schema) == (0, row.breadcrumb.schema)
    assert (facts[0].terms, facts[0].vector) == (row.passages[0].terms, row.passages[0].vector)
    assert end == make_place(2)
    of_session, _ = await store.passages("acme", "mon", (make_place(1), FAR), 10, MODEL)
    assert [fact.place for fact in of_session] == [make_place(3)]


async def test_passages_of_another_model_have_no_vector(store: Store) -> None:
    await remember_all(store, said(1))
    ((fact,), _) = await store.passages("acme", EVERY_SESSION, (ORIGIN, FAR), 10, "another")
    assert fact.vector == b""
    assert fact.terms


async def test_pages_of_passages_together_give_each_once(store: Store) -> None:
    await remember_all(store, *(said(number, f"s{number % 3}") for number in range(1, 20)))
    after, places = ORIGIN, list[Place]()
    while after < make_place(19):
        facts, after = await store.passages("acme", EVERY_SESSION, (after, make_place(19)), 4, MODEL)
        places += [fact.place for fact in facts]
    assert places == [make_place(number) for number in range(1, 20)]


async def test_what_was_erased_has_no_passages_and_raises_the_revision_of_its_session(store: Store) -> None:
    await remember_all(store, said(1), said(2, "tue"))
    before = await store.revisions("acme")
    await store.erase("acme", "mon", "m1", FAR)
    facts, _ = await store.passages("acme", EVERY_SESSION, (ORIGIN, FAR), 10, MODEL)
    assert [fact.session for fact in facts] == ["tue"]
    after = await store.revisions("acme")
    assert {name for name in after if after[name] != before.get(name)} == {"mon"}


async def test_a_stretch_has_what_stands_beside_its_place_in_the_session(store: Store) -> None:
    await remember_all(store, *(said(number, "mon" if number != 5 else "tue") for number in range(1, 10)))
    assert await ids(store, 4) == ["m3", "m4", "m6"]
    assert await ids(store, 4, reach=2) == ["m2", "m3", "m4", "m6", "m7"]
    assert await ids(store, 1, 9) == ["m1", "m2", "m8", "m9"]


async def test_stretches_that_overlap_give_each_row_once(store: Store) -> None:
    await remember_all(store, *(said(number) for number in range(1, 8)))
    assert await ids(store, 2, 4, 5) == ["m1", "m2", "m3", "m4", "m5", "m6"]


async def test_a_stretch_ends_where_the_reader_looks_from(store: Store) -> None:
    await remember_all(store, *(said(number) for number in range(1, 8)))
    assert await ids(store, 4, reach=3, until=make_place(5)) == ["m1", "m2", "m3", "m4", "m5"]


async def test_later_versions_and_tombstones_come_along_however_far_away_they_are(store: Store) -> None:
    version = said(8, "mon", id="m1", version=2)
    foreign = said(10, "tue", id="m1", version=3)
    tombstone = said(9, NO_SESSION, schema="tombstone.v1", removes="m2", role="other")
    await store.remember_all((*(said(number) for number in range(1, 8)), version, tombstone, foreign))
    assert await ids(store, 1) == ["m1", "m2", "m1", tombstone.breadcrumb.id]
    assert await ids(store, 1, until=make_place(7)) == ["m1", "m2"]


async def test_a_stretch_has_nothing_that_was_erased(store: Store) -> None:
    await remember_all(store, *(said(number) for number in range(1, 5)))
    await store.erase("acme", "mon", "m3", FAR)
    assert await ids(store, 2) == ["m1", "m2"]


async def test_nobody_reads_another_workspace(store: Store) -> None:
    await remember_all(store, said(1), said(2, workspace="other"))
    facts, _ = await store.passages("acme", EVERY_SESSION, (ORIGIN, FAR), 10, MODEL)
    assert [fact.place for fact in facts] == [make_place(1)]
    assert await ids(store, 1) == ["m1"]
    assert await store.revisions("other") == {}
