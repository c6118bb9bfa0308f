"""Summaries that were erased are made again, once, under ids that the store takes."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from builder.adapters.sql.store import SqlStore
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.service import ContextBuilder
from tests.factories import MORNING, make_answer, make_breadcrumb, make_place, make_question, make_tombstone
from tests.stores import durable_store
from tests.summarised import Publishing, chain, make_builder, make_summarising, remember, summing, talk


@pytest.fixture
def store() -> Iterator[SqlStore]:
    """Opened and empty."""
    opened = durable_store()
    yield opened
    opened.close()


async def looked(builder: ContextBuilder, profile: Profile, sequence: int, hours: float | None = None) -> list[Breadcrumb]:
    """What a worker that was just started publishes when it looks here."""
    publishing = Publishing(builder, make_place(sequence + 1), hours=hours)
    await make_summarising(builder, publishing, profile).look("acme", "s42", make_place(sequence))
    return publishing.out


def ids(summaries: list[Breadcrumb]) -> set[str]:
    return {crumb.id for crumb in summaries}


async def test_summaries_that_are_purged_are_made_again_once_after_each_purge(store: SqlStore) -> None:
    builder, profile = make_builder(store), summing(cap=200)
    await remember(builder, talk(20))
    ended = await looked(builder, profile, 1000, hours=24)
    before = await chain(builder, profile)
    await store.purge(await store.ended(MORNING + timedelta(days=9)))
    assert await chain(builder, profile) == ()
    again = await looked(builder, profile, 1100, hours=24)
    assert await chain(builder, profile) == before
    assert await looked(builder, profile, 1200) == []
    await store.purge(await store.ended(MORNING + timedelta(days=9)))
    without_expired = await looked(builder, profile, 1300)
    assert await looked(builder, profile, 1400) == []
    assert await chain(builder, profile) == before
    assert len(ids(ended) | ids(again) | ids(without_expired)) == 3 * len(ended)


async def test_summaries_of_a_purged_earlier_version_are_made_again_once(
    store: SqlStore,
) -> None:
    builder, profile = make_builder(store), summing(cap=200)
    answer = make_answer(2, session="s42", id="answer", expires_at=MORNING + timedelta(hours=1)).breadcrumb
    edit = make_answer(3, session="s42", id="answer", version=2).breadcrumb
    later = [make_breadcrumb(f"Remark {n}.", n) for n in range(4, 14)]
    await remember(builder, [make_question(1).breadcrumb, answer, edit, *later])
    gone = await looked(builder, profile, 1000)
    before = await chain(builder, profile)
    await store.purge(await store.ended(MORNING + timedelta(hours=2)))
    again = await looked(builder, profile, 1100)
    assert again
    assert not ids(again) & ids(gone)
    assert await chain(builder, profile) == before
    assert await looked(builder, profile, 1200) == []


async def test_a_summary_that_is_deleted_and_not_erased_yet_is_made_again_once(store: SqlStore) -> None:
    builder, profile = make_builder(store), summing()
    await remember(builder, talk(8))
    (first,) = await looked(builder, profile, 1000)
    await builder.remember(make_tombstone(first.id, 1100).breadcrumb)
    (second,) = await looked(builder, profile, 1200)
    assert second.covers == first.covers
    assert await looked(builder, profile, 1300) == []
    await store.erase("acme", "s42", first.id, make_place(1100))
    assert await looked(builder, profile, 1400) == []


async def test_a_summary_that_was_passed_over_does_not_keep_its_id_from_the_one_that_counts(
    store: SqlStore,
) -> None:
    builder, profile = make_builder(store), summing()
    await remember(builder, talk(8))
    mine, theirs = (Publishing(builder, make_place(first), remembering=False) for first in (1000, 1100))
    await make_summarising(builder, mine, profile).look("acme", "s42", make_place(8))
    await builder.remember(make_breadcrumb("Nina fires it on Monday.", id="m1", version=2, place=make_place(9)))
    await make_summarising(builder, theirs, profile).look("acme", "s42", make_place(9))
    await remember(builder, [*mine.out, *theirs.out, make_tombstone(mine.out[0].id, 1200).breadcrumb])
    (again,) = await looked(builder, profile, 1300)
    assert again.id != theirs.out[0].id
    assert await chain(builder, profile) == again.covers
    assert await looked(builder, profile, 1400) == []


async def test_two_workers_of_which_one_saw_a_tombstone_make_the_same_summary(store: SqlStore) -> None:
    builder, profile = make_builder(store), summing()
    await remember(builder, talk(8))
    one, two = (Publishing(builder, make_place(first), remembering=False) for first in (1000, 1100))
    await make_summarising(builder, one, profile).look("acme", "s42", make_place(8))
    await builder.remember(make_tombstone("m8", 9).breadcrumb)
    await builder.remember(make_breadcrumb("One more.", 10))
    await make_summarising(builder, two, profile).look("acme", "s42", make_place(10))
    assert [crumb.id for crumb in one.out] == [crumb.id for crumb in two.out]
