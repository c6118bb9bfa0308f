"""The contract of what is pinned, of no session alone and in which version."""

from dataclasses import replace

from builder.domain.selector import Selector
from builder.ports.store import CompleteStore as Store
from tests.contract.test_store import CATALOG, query, remember_all
from tests.factories import latest_of, make_catalog, make_remembered, make_tombstone


async def test_what_is_of_no_session_alone_is_neither_added_to_nor_taken_away_by_a_session(store: Store) -> None:
    kind = replace(latest_of(CATALOG), keep=3, of_no_session=True)
    forged = make_catalog(2, 3, session="s42", id="m1", version=9)
    await store.remember_all(
        (make_catalog(2, 1), make_catalog(2, 2, session="s42"), forged, make_tombstone("m1", 4, session="s42"))
    )
    assert [[row.breadcrumb.place.sequence for row in rows] for rows in (await store.recall(query(pinned=(kind,)))).pinned] == [
        [1]
    ]
    await remember_all(store, make_tombstone("m1", 5, session="_"))
    assert (await store.recall(query(pinned=(kind,)))).pinned == ((),)


async def test_a_tombstone_of_a_session_takes_nothing_of_no_session_from_what_is_pinned(store: Store) -> None:
    await store.remember_all((make_catalog(2, 1), make_catalog(2, 2), make_tombstone("m2", 3, session="s42")))
    kind = latest_of(CATALOG)
    assert [[row.breadcrumb.id for row in rows] for rows in (await store.recall(query(pinned=(kind,)))).pinned] == [["m2"]]


async def test_a_tag_of_any_length_is_found(store: Store) -> None:
    tag = "".join(map(chr, range(0x4E00, 0x4E00 + 5_000)))
    await remember_all(store, make_remembered("Other.", 1, tags=(f"{tag}!",)), make_remembered("This.", 2, tags=("a", tag)))
    kind = replace(latest_of(CATALOG), selector=Selector(any_tags=(tag,)))
    assert [[row.breadcrumb.id for row in rows] for rows in (await store.recall(query(pinned=(kind,)))).pinned] == [["m2"]]


async def test_an_older_version_that_comes_late_never_stands_in_the_newer_one_s_place(store: Store) -> None:
    await remember_all(store, *(make_catalog(1, place, id="tools", version=v) for place, v in ((1, 1), (2, 3), (3, 2))))
    recall = await store.recall(query(until=9, pinned=(CATALOG,)))
    assert [row.breadcrumb.version for rows in recall.pinned for row in rows] == [3]
    early = await store.recall(query(until=1, pinned=(CATALOG,)))
    assert [row.breadcrumb.version for rows in early.pinned for row in rows] == [1]
