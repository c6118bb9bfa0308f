"""An endpoint in the place of the extractive summariser, and everything but the tail at once."""

import asyncio
import json

import pytest

from builder.domain.breadcrumb import Arrival
from builder.domain.errors import Rejected, Unavailable
from builder.domain.summary import Line, Said
from builder.wire.inbound import decode
from tests.factories import MORNING, make_breadcrumb, make_place, make_profile
from tests.summarised import (
    BEHIND,
    FACTS,
    Publishing,
    chain,
    lines,
    make_builder,
    make_summarising,
    page,
    remember,
    summing,
    talk,
)


class Endpoint:
    """A `Summarizer` that copies, or is away."""

    name = "mini"

    def __init__(self, away: bool = False) -> None:
        self.away = away
        self.asked: list[tuple[tuple[Line, ...], tuple[Said, ...]]] = []

    async def summarise(self, lines: tuple[Line, ...], said: tuple[Said, ...], cap: int) -> tuple[Line, ...]:
        self.asked.append((lines, said))
        if self.away or cap < 1:
            raise Unavailable("nobody answers")
        first = said[0]
        new = Line(text=f"{first.speaker} spoke.", day=first.day, ids=(first.id,), versions=(first.version,))
        return (*lines, new)


async def test_an_endpoint_makes_the_summaries_of_profiles_that_want_it() -> None:
    builder, profile, endpoint = make_builder(), summing(by="endpoint"), Endpoint()
    await remember(builder, talk(12))
    publishing, made = Publishing(builder, BEHIND), list[str]()
    await make_summarising(builder, publishing, profile, endpoint=endpoint, made=made.append).look("acme", "s42", make_place(12))
    assert made == ["mini", "mini"]
    assert [json.loads(crumb.body)["by"] for crumb in publishing.out] == ["mini", "mini"]
    assert [line["text"] for line in lines(publishing.out[-1])] == ["User spoke."] * 2


async def test_the_extractive_summariser_steps_in_when_the_endpoint_is_away_and_says_so() -> None:
    builder, profile = make_builder(), summing(by="endpoint")
    await remember(builder, talk(8))
    publishing, made = Publishing(builder, BEHIND), list[str]()
    await make_summarising(builder, publishing, profile, endpoint=Endpoint(away=True), made=made.append).look(
        "acme", "s42", make_place(8)
    )
    assert made == ["fallback", "extractive"]
    assert json.loads(publishing.out[0].body)["by"] == "extractive"


async def test_compact_stands_for_everything_but_the_tail_and_keeps_what_people_said_word_for_word() -> None:
    builder, profile = make_builder(), summing(cap=30)
    crumbs = [
        make_breadcrumb(f"  What is fact {n}?\n\nAnd why?  " if n % 2 else f"Fact {n} is {FACTS[n % 6]}", n,
                        schema="user.message.v1" if n % 2 else "agent.response.v1", speaker="User" if n % 2 else "Assistant",
                        role="user" if n % 2 else "assistant")
        for n in range(1, 12)
    ]  # fmt: skip
    await remember(builder, crumbs)
    publishing = Publishing(builder, BEHIND)
    report = await make_summarising(builder, publishing, profile).compact("acme", "s42", profile)
    assert (report.units, report.covered) == (6, 6)  # the tail of 4 begins with a question, so it is 5
    assert report.summary == publishing.out[0].id
    verbatim = [line["text"] for line in lines(publishing.out[0]) if line["verbatim"]]
    assert verbatim == [f"User: What is fact {n}?\n\nAnd why?" for n in (1, 3, 5)]
    again = await make_summarising(builder, publishing, profile).compact("acme", "s42", profile)
    assert (again.units, again.summary) == (0, report.summary)


async def test_what_compact_kept_word_for_word_stays_in_the_summaries_that_follow() -> None:
    builder, profile = make_builder(), summing(cap=30)
    await remember(builder, talk(10))
    publishing = Publishing(builder, BEHIND)
    loop = make_summarising(builder, publishing, profile)
    await loop.compact("acme", "s42", profile)
    kept = [line for line in lines(publishing.out[-1]) if line["verbatim"]]
    assert len(kept) == 6
    await remember(builder, [make_breadcrumb(f"Remark {n} on the kiln.", n) for n in range(1100, 1110)])
    await loop.look("acme", "s42", make_place(1109))
    assert [line for line in lines(publishing.out[-1]) if line["verbatim"]] == kept


async def test_compact_without_what_people_said_keeps_to_the_cap() -> None:
    builder, profile = make_builder(), summing(cap=60)
    await remember(builder, talk(40))
    publishing = Publishing(builder, BEHIND)
    report = await make_summarising(builder, publishing, profile).compact("acme", "s42", profile, keep_user=False)
    assert report.tokens_after <= 60 < report.tokens_before


async def test_compact_refuses_a_profile_without_summaries() -> None:
    builder, profile = make_builder(), make_profile(summaries=None)
    with pytest.raises(Rejected, match="has no summaries"):
        await make_summarising(builder, Publishing(builder, BEHIND), profile).compact("acme", "s42", profile)


async def test_a_secret_summary_stands_for_nothing_and_breaks_no_build() -> None:
    builder, profile = make_builder(), summing()
    record = {"id": "hush", "sensitivity": "secret", "context": {"lines": [], "covered": ["m1"]}}
    data, subject = json.dumps(record).encode(), "breadcrumbs.acme.s42.summary.v1"
    secret = decode(Arrival(subject=subject, data=data, place=make_place(9), received_at=MORNING, replay=True))
    await remember(builder, [*talk(8), secret])
    shown = await page(builder, profile)
    assert "K-4711" in shown
    assert "## Summary" not in shown


async def test_the_loop_and_compact_take_turns_so_nothing_is_summarised_twice() -> None:
    builder, profile = make_builder(), summing()
    await remember(builder, talk(12))
    publishing = Publishing(builder, BEHIND)
    loop = make_summarising(builder, publishing, profile)
    await asyncio.gather(loop.look("acme", "s42", make_place(12)), loop.compact("acme", "s42", profile))
    covers = [identity for crumb in publishing.out for identity in crumb.covers]
    assert sorted(covers) == sorted(set(covers))
    assert await chain(builder, profile) == tuple(covers)
