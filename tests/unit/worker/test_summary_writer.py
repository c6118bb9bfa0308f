"""The writer of summaries: by an endpoint or without one, under an id that is free, never larger than a breadcrumb."""

import json

import pytest

from builder.domain.errors import Rejected
from builder.recall.index.view import View
from builder.recall.summaries.plan import chain_of, recipe_of, waiting_units
from builder.service import ContextBuilder
from builder.worker.summary_writer import Batch, Draft, SummaryWriter
from tests.factories import make_place
from tests.stores import DurableStore, durable_store
from tests.summarised import (
    BEHIND,
    WORDS,
    Endpoint,
    Makers,
    Publishing,
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
    return view, Batch(workspace="acme", session="s42", recipe=recipe, units=units, **changes)


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
