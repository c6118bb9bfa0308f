"""What was edited or hidden after a summary covered it: old words are shown no more, new ones are summarised in their turn."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from builder.domain.breadcrumb import Breadcrumb, StreamMessage
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.domain.summary import Source, read_summary
from builder.extras.summaries.chain import covered_sources
from builder.recall.summaries.recipes import recipe_of
from builder.remember.decode import decode
from builder.service import ContextBuilder
from tests.factories import MORNING, make_breadcrumb, make_place, make_tombstone
from tests.stores import durable_store
from tests.summarised import (
    BEHIND,
    Publishing,
    chain,
    lines,
    look_once,
    make_builder,
    make_summarising,
    page,
    remember,
    report,
    reporting,
    summary,
    summing,
    talk,
    talking,
)


def edited(text: str, sequence: int, version: int = 2, identity: str = "m4") -> Breadcrumb:
    return make_breadcrumb(text, id=identity, version=version, place=make_place(sequence))


def remarks(first: int, number: int) -> list[Breadcrumb]:
    return [make_breadcrumb(f"Remark {n}.", n) for n in range(first, first + number)]


async def sources(builder: ContextBuilder, profile: Profile) -> tuple[Source, ...]:
    recipe = recipe_of(profile)
    assert recipe
    return covered_sources(await builder.recaller.session_view("acme", "s42", make_place(2000)), recipe)


async def test_one_edit_waits_with_the_others_and_meanwhile_no_page_tells_the_old_words() -> None:
    builder, profile = await talking(8, cap=200)
    await look_once(builder, profile, 8)
    assert "K-4711" in await summary(builder, profile)
    for version, start in ((2, 1100), (3, 1200)):
        await builder.remember(edited(f"The blue kiln is K-{version}.", start, version, identity="m1"))
        publishing = await look_once(builder, profile, start, Publishing(builder, make_place(start + 50)))
        assert publishing.out == []
        assert "K-4711" not in await page(builder, profile, 1900)
    await remember(builder, remarks(1300, 1))
    publishing = await look_once(builder, profile, 1300, Publishing(builder, make_place(1350)))
    assert [crumb.covers[0] for crumb in publishing.out] == ["m1"]
    assert "User: The blue kiln is K-3." in [line["text"] for line in lines(publishing.out[0])]


async def test_an_edit_of_an_edit_that_nothing_covered_is_covered_in_its_newest_version_only() -> None:
    builder, profile = await talking(20)
    await look_once(builder, profile, 20)
    await remember(builder, [edited("Once.", 1100), edited("Twice.", 1101, 3), *remarks(1102, 5)])
    await look_once(builder, profile, 1106, Publishing(builder, make_place(1200)))
    assert [source for source in await sources(builder, profile) if source[0] == "m4"] == [("m4", 1), ("m4", 3)]


async def test_of_two_workers_one_of_which_saw_an_edit_neither_takes_the_others_summary_for_its_own() -> None:
    builder, profile = await talking(8)
    outs = []
    for place in (8, 9):
        publishing = Publishing(builder, make_place(1000 + place), remembering=False)
        await look_once(builder, profile, place, publishing)
        outs.append(publishing.out[0])
        await builder.remember(edited("The red kiln is K-1234.", 9, identity="m1"))
    assert outs[0].covers == outs[1].covers
    assert outs[0].id != outs[1].id


async def test_a_summary_that_is_forgotten_takes_those_that_continue_it_with_it_and_all_are_made_again() -> None:
    store, profile = durable_store(), summing()
    builder = make_builder(store)
    await remember(builder, talk(20))
    publishing = await look_once(builder, profile, 20)
    before, second = await chain(builder, profile), publishing.out[1]
    await builder.remember(make_tombstone(second.id, 1200).breadcrumb)
    assert await chain(builder, profile) == publishing.out[0].covers
    await store.erase("acme", "s42", second.id, make_place(1200))
    assert await chain(builder, profile) == publishing.out[0].covers
    again = await look_once(builder, profile, 1200, Publishing(builder, make_place(1300)))
    assert await chain(builder, profile) == before
    assert not {crumb.id for crumb in again.out} & {crumb.id for crumb in publishing.out}


def summary_of(**body: object) -> Breadcrumb:
    """A summary as somebody else publishes it."""
    line = {"text": "Ana: The kiln fires at cone 6.", "ids": ["m1"], "versions": [1]}
    context = {"lines": [line], "covered": ["m1", "m2"], "last": "m2", "recipe": "3f0c9a51"} | body
    data = json.dumps({"id": "sum", "context": context}).encode()
    subject = "breadcrumbs.acme.s42.summary.v1"
    return decode(StreamMessage(subject=subject, data=data, place=make_place(9), received_at=MORNING, replay=True))


def test_a_summary_that_names_no_versions_stands_for_first_ones() -> None:
    assert read_summary(summary_of()).sources == (("m1", 1), ("m2", 1))
    assert read_summary(summary_of(versions=[])).sources == (("m1", 1), ("m2", 1))
    assert read_summary(summary_of(versions=[4, 2])).sources == (("m1", 4), ("m2", 2))


def test_a_summary_with_another_number_of_versions_than_ids_is_rejected_with_what_to_do() -> None:
    with pytest.raises(Rejected, match="2 ids covered and 1 versions; give one version for each id, or none"):
        summary_of(versions=[1])


def blacklist(sequence: int, **body: object) -> Breadcrumb:
    """What nobody is to see from here on, in place of every blacklist before."""
    return make_breadcrumb("", sequence, schema="context.blacklist.v1", session="_", role="other", body=json.dumps(body))


def more_talk(first: int) -> list[Breadcrumb]:
    """Twenty more messages, about a mill."""
    return [
        make_breadcrumb(f"The mill at Arnhem ground {13 * n} sacks of wheat on day {n}.", first + n, id=f"n{first + n}")
        for n in range(20)
    ]


def tomorrow(crumb: Breadcrumb) -> datetime:
    return crumb.received_at + timedelta(days=1)


async def test_a_blacklist_of_summaries_hides_them_and_does_not_have_them_made_again() -> None:
    builder, profile = await talking(8, cap=200)
    publishing = await look_once(builder, profile, 8)
    assert "K-4711" in await summary(builder, profile)
    await builder.remember(blacklist(1100, excluded_schemas=[{"schema_name": "summary.v1"}]))
    assert "## Earlier in this conversation" not in await page(builder, profile, 1900)
    made = [crumb.id for crumb in publishing.out]
    await look_once(builder, profile, 1200, publishing)
    assert [crumb.id for crumb in publishing.out] == made


async def test_a_blacklist_of_the_first_summary_leaves_those_that_continue_it_on_the_page() -> None:
    builder, profile = await talking(20, cap=200)
    publishing = await look_once(builder, profile, 20)
    before = await summary(builder, profile)
    await builder.remember(blacklist(1100, excluded_ids=[publishing.out[0].id]))
    assert "## Earlier in this conversation" in before
    assert await summary(builder, profile) == before


async def test_a_blacklist_of_the_newest_summary_shows_the_one_before_it_until_the_next_is_made() -> None:
    builder, profile = await talking(14, cap=200)
    publishing = await look_once(builder, profile, 11)
    before = await summary(builder, profile)
    await look_once(builder, profile, 1050, publishing)
    assert len(publishing.out) == 3
    await builder.remember(blacklist(1100, excluded_ids=[publishing.out[-1].id]))
    assert await summary(builder, profile) == before
    await remember(builder, more_talk(1200))
    later = await look_once(builder, profile, 1250, Publishing(builder, make_place(1300)))
    assert json.loads(later.out[0].body)["previous"] == publishing.out[-1].id
    await remember(builder, more_talk(1400))
    assert "Arnhem" in await summary(builder, profile)


async def test_lines_that_a_hidden_summary_keeps_word_for_word_are_hidden_with_it_and_kept_by_the_chain() -> None:
    builder, profile = await reporting(14)
    publishing = Publishing(builder, BEHIND)
    await make_summarising(builder, publishing, profile).compact("acme", "s42", profile)
    (first,) = publishing.out
    await remember(builder, [report(1099), *more_talk(1100)])
    later = Publishing(builder, make_place(1200))
    await make_summarising(builder, later, profile).compact("acme", "s42", profile)
    assert "week number 2?" in await summary(builder, profile)
    await builder.remember(blacklist(1300, excluded_ids=[first.id]))
    shown = await summary(builder, profile)
    assert "week number 2?" not in shown
    assert "Arnhem" in shown
    await builder.remember(blacklist(1301, excluded_ids=[]))
    assert "week number 2?" in await summary(builder, profile)


async def test_a_summary_that_is_born_after_its_end_is_made_once() -> None:
    """Its end counts from the last message that it covers, which may be older than it is to live."""
    builder, profile = await talking(20, cap=200)
    first = await look_once(builder, profile, 20, moment=MORNING + timedelta(days=9), hours=24)
    assert len(first.out) == 5
    await builder.remember(make_breadcrumb("One more.", 1100, created_at=MORNING + timedelta(days=9)))
    second = Publishing(builder, make_place(1200), moment=MORNING + timedelta(days=9), hours=24)
    await look_once(builder, profile, 1100, second)
    assert second.out == []


async def test_a_summary_that_has_ended_is_shown_no_more_and_those_that_continue_it_are() -> None:
    builder, profile = await talking(8, cap=200)
    ending = await look_once(builder, profile, 8, hours=1)
    late = [replace(crumb, created_at=tomorrow(crumb), received_at=tomorrow(crumb)) for crumb in more_talk(1100)]
    await remember(builder, late)
    assert "## Earlier in this conversation" not in await summary(builder, profile)
    without_expired = Publishing(builder, make_place(1200), moment=late[-1].received_at)
    await make_summarising(builder, without_expired, profile).look("acme", "s42", late[-1].place)
    assert json.loads(without_expired.out[0].body)["previous"] == ending.out[-1].id
    covered = await chain(builder, profile)
    assert covered[: len(ending.out[0].covers)] == ending.out[0].covers
    assert len(set(covered)) == len(covered)
