"""The contract of `MissingVectors`: one suite over every store."""

import asyncio
from dataclasses import replace

from builder.domain.breadcrumb import ORIGIN, Breadcrumb, Place
from builder.domain.recall import EVERY_SESSION, Recall, RecallQuery, Scope
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import CompleteStore as Store
from tests.factories import FAR, MODEL, bare, latest_of, make_remembered

LONG = "I moved to Lisbon because of the new job. " * 40


async def recall(store: Store, *sessions: str, workspace: str = "acme", model: str = MODEL, searched: bool = True) -> Recall:
    """Of the session s42, or of these."""
    scope = Scope(workspace=workspace, sessions=sessions or ("s42",))
    pinned = (latest_of("tool.catalog.v1"),)
    query = RecallQuery(scope=scope, session="s42", after=ORIGIN, until=FAR, limit=1000, pinned=pinned, model=model)
    return await store.recall(replace(query, searched=searched))


async def remember_bare(store: Store, *rows: StoredBreadcrumb) -> None:
    for row in rows:
        assert await store.remember(bare(row))


def crumbs(rows: tuple[StoredBreadcrumb, ...]) -> list[Breadcrumb]:
    return [row.breadcrumb for row in rows]


async def test_what_an_engine_has_seen_is_not_lacking(store: Store) -> None:
    await store.remember(make_remembered())
    await store.remember(replace(make_remembered("", 2), passages=()))
    assert (await store.missing_vectors(9), await store.count_missing_vectors()) == ((), 0)


async def test_what_lacks_vectors_is_recalled_with_its_words(store: Store) -> None:
    row = make_remembered("I moved to Lisbon.")
    await remember_bare(store, row)
    (held,) = (await recall(store)).rows
    assert held.passages == bare(row).passages
    assert held.passages[0].terms == "move lisbon"


async def test_what_was_remembered_with_vectors_is_never_changed(store: Store) -> None:
    row = make_remembered()
    await store.remember(row)
    assert not await store.fill_vectors(replace(row, model="other/int8/1"))
    assert await store.facts(row.breadcrumb) == row
    assert (await recall(store)).revision == 0


async def test_of_many_that_fill_in_at_once_exactly_one_wins(store: Store) -> None:
    row = make_remembered()
    await remember_bare(store, row)
    assert sum(await asyncio.gather(*(store.fill_vectors(row) for _ in range(20)))) == 1


async def test_filling_revises_no_scope_and_whoever_read_it_before_gets_the_vectors_by_asking(store: Store) -> None:
    rows = [make_remembered(LONG, 1), make_remembered("Message 2.", 2), make_remembered("Message 3.", 3, session="s4")]
    await remember_bare(store, *rows)
    asked = tuple(row.breadcrumb for row in rows)
    assert await store.vectors(asked, MODEL) == ((), (), ())
    for row in rows[::2]:
        await store.fill_vectors(row)
    filled = [tuple(held.vector for held in row.passages) for row in rows]
    assert await store.vectors(asked, MODEL) == (filled[0], (), filled[2])
    assert await store.vectors(asked[::-1], MODEL) == (filled[2], (), filled[0])
    assert await store.vectors(asked, "other/int8/1") == ((), (), ())
    assert await store.vectors((), MODEL) == ()
    assert (await recall(store, EVERY_SESSION)).revision == 0


async def test_the_oldest_places_come_first_and_those_behind_one_can_be_asked_for(store: Store) -> None:
    homes = [("acme", "b"), ("acme", "a"), ("rival", "a"), ("Z", "a"), ("ä", "a")]
    same = [make_remembered(f"Hi {n}.", id="m", place=Place(1, 5), workspace=w, session=s) for n, (w, s) in enumerate(homes)]
    same = [replace(row, breadcrumb=replace(row.breadcrumb, id=f"m{n}")) for n, row in enumerate(same)]
    later = [
        make_remembered("Late.", id=f"l{n}", place=place) for n, place in enumerate((Place(2, 1), Place(1, 40), Place(1, 6)))
    ]
    await remember_bare(store, *later, *same)
    expected = [same[number].breadcrumb for number in (3, 1, 0, 2, 4)] + [row.breadcrumb for row in reversed(later)]
    assert crumbs(await store.missing_vectors(100)) == expected
    assert crumbs(await store.missing_vectors(3)) == expected[:3]
    after, walked = None, []
    while page := await store.missing_vectors(2, after):
        walked += crumbs(page)
        after = walked[-1]
    assert walked == expected
    assert crumbs(await store.missing_vectors(100, expected[4])) == expected[5:]


async def test_the_page_behind_one_that_was_filled_in_meanwhile_is_still_found(store: Store) -> None:
    rows = [make_remembered(f"Message {n}.", n) for n in range(1, 5)]
    await remember_bare(store, *rows)
    await store.fill_vectors(rows[1])
    assert crumbs(await store.missing_vectors(9, rows[1].breadcrumb)) == [rows[2].breadcrumb, rows[3].breadcrumb]


async def test_without_a_search_passages_are_recalled_without_terms_and_vectors(store: Store) -> None:
    row = make_remembered(LONG)
    assert await store.remember(row)
    (recalled,) = (await recall(store, searched=False)).rows
    assert recalled == replace(row, passages=tuple(replace(each, terms="", vector=b"") for each in row.passages))
