"""The writer of summaries: by an endpoint or without one, under an id that is free, never larger than a breadcrumb."""

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from builder.adapters.sql.store import SqlStore
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.extras.summaries.chain import chain_of, waiting_units
from builder.extras.summaries.writer import Batch, Draft, SummaryWriter
from builder.recall.index.view import View
from builder.recall.summaries.recipes import recipe_of
from builder.service import ContextBuilder
from tests.factories import MORNING, make_answer, make_breadcrumb, make_place, make_question, make_tombstone
from tests.stores import DurableStore, durable_store
from tests.summarised import (
    BEHIND,
    WORDS,
    Endpoint,
    Makers,
    Publishing,
    chain,
    lines,
    make_builder,
    make_summarising,
    remember,
    summing,
    talk,
)


async def test_an_endpoint_makes_the_summaries_of_profiles_that_want_it() -> None:
    builder, profile, endpoint = make_builder(), summing(by="endpoint"), Endpoint()
    await remember(builder, talk(12))
    publishing, made = Publishing(builder, BEHIND), list[str]()
    await make_summarising(builder, publishing, profile, endpoint=endpoint, made=made).look("acme", "s42", make_place(12))
    assert made == ["mini", "mini"]
    recipe = recipe_of(profile)
    assert recipe
    assert {crumb.tags for crumb in publishing.out} == {(f"recipe:{recipe.name}",)}
    assert [json.loads(crumb.body)["by"] for crumb in publishing.out] == ["mini", "mini"]
    assert [[line["text"] for line in lines(crumb)] for crumb in publishing.out] == [
        ["user: spoke 0 times before"],
        ["user: spoke 1 times before"],
    ]


async def test_the_extractive_summariser_steps_in_when_the_endpoint_is_away_and_says_so() -> None:
    builder, profile = make_builder(), summing(by="endpoint")
    await remember(builder, talk(8))
    publishing, made = Publishing(builder, BEHIND), list[str]()
    await make_summarising(builder, publishing, profile, endpoint=Endpoint(away=True), made=made).look(
        "acme", "s42", make_place(8)
    )
    assert made == ["fallback", "extractive"]
    assert json.loads(publishing.out[0].body)["by"] == "extractive"


async def test_a_summary_that_the_service_would_not_take_from_the_stream_is_not_published() -> None:
    builder, profile = make_builder(), summing()
    await remember(builder, talk(8))
    publishing = Publishing(builder, BEHIND)
    with pytest.raises(Rejected, match=r"allowed are 300; .* or raise CONTEXT_BUILDER_WORKER__MAX_BODY_BYTES"):
        await make_summarising(builder, publishing, profile, max_bytes=300).look("acme", "s42", make_place(8))
    assert publishing.out == []


def writer_of(
    builder: ContextBuilder, store: DurableStore | None = None, names: list[str] | None = None
) -> tuple[SummaryWriter, Publishing]:
    """A writer, and what it sends. names: gets who made each summary."""
    publishing = Publishing(builder, BEHIND)
    return SummaryWriter(publishing, WORDS, None, store or durable_store(), Makers(names)), publishing


async def batch_of(builder: ContextBuilder, number: int = 6, **changes: bool) -> tuple[View, Batch]:
    """The first units of the session, as of now."""
    view, recipe = await builder.recaller.session_view("acme", "s42", make_place(900)), recipe_of(summing())
    assert recipe
    units = waiting_units(view, recipe, -1)[:number]
    return view, Batch(session=("acme", "s42"), recipe=recipe, units=units, **changes)


async def draft(builder: ContextBuilder, store: DurableStore | None = None) -> Draft:
    view, batch = await batch_of(builder)
    return await writer_of(builder, store)[0].draft(view, chain_of(view, batch.recipe), batch)


async def talking() -> ContextBuilder:
    builder = make_builder()
    await remember(builder, talk(8))
    return builder


async def test_a_draft_is_sent_nowhere_until_it_is_published() -> None:
    builder, names = await talking(), list[str]()
    writer, publishing = writer_of(builder, names=names)
    view, batch = await batch_of(builder)
    chain = chain_of(view, batch.recipe)
    unsent = await writer.draft(view, chain, batch)
    assert (publishing.out, names) == ([], [])
    assert (await writer.send(unsent), names) == (BEHIND, ["extractive"])
    assert [crumb.id for crumb in publishing.out] == [unsent.chain.previous]


async def test_the_id_depends_on_what_is_covered_alone() -> None:
    assert (await draft(await talking())).event == (await draft(await talking())).event


@pytest.fixture
def store() -> Iterator[SqlStore]:
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


async def test_summaries_of_a_purged_earlier_version_are_made_again_once(store: SqlStore) -> None:
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


async def test_a_summary_that_was_passed_over_does_not_keep_its_id_from_the_one_that_counts(store: SqlStore) -> None:
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
