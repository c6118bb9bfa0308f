"""Versions of a breadcrumb: the highest counts, whichever came last. One suite over every store."""

from tests.contract.test_store import CATALOG, Store, query, remember_all
from tests.factories import make_catalog


async def test_an_older_version_that_comes_late_never_stands_in_the_newer_one_s_place(store: Store) -> None:
    await remember_all(store, *(make_catalog(1, place, id="tools", version=v) for place, v in ((1, 1), (2, 3), (3, 2))))
    recall = await store.recall(query(until=9, pinned=(CATALOG,)))
    assert [row.breadcrumb.version for rows in recall.pinned for row in rows] == [3]
    early = await store.recall(query(until=1, pinned=(CATALOG,)))
    assert [row.breadcrumb.version for rows in early.pinned for row in rows] == [1]
