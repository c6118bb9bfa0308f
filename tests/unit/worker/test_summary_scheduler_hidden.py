"""Summaries that a blacklist or their end takes off the page: what continues them stays, and none is made again for that."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

from builder.domain.breadcrumb import Breadcrumb
from tests.factories import MORNING, make_breadcrumb, make_place
from tests.summarised import (
    BEHIND,
    Publishing,
    chain,
    look_once,
    make_summarising,
    page,
    remember,
    report,
    reporting,
    summary,
    talking,
)


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
