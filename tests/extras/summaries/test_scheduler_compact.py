"""Compaction: a summary of everything but the tail, at once."""

import asyncio
import json
import re
from dataclasses import replace

import pytest

from builder.domain.breadcrumb import Breadcrumb, StreamMessage
from builder.domain.errors import Rejected
from builder.remember.decode import decode
from tests.factories import MORNING, make_breadcrumb, make_place, make_profile
from tests.summarised import (
    BEHIND,
    FACTS,
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
    outcome = await make_summarising(builder, publishing, profile).compact("acme", "s42", profile)
    assert (outcome.units, outcome.covered) == (6, 6)  # the tail of 4 begins with a question, so it is 5
    assert outcome.summary == publishing.out[0].id
    assert verbatim(publishing.out[0]) == [f"User: What is fact {n}?\n\nAnd why?" for n in (1, 3, 5)]
    again = await make_summarising(builder, publishing, profile).compact("acme", "s42", profile)
    assert (again.units, again.summary) == (0, outcome.summary)


def verbatim(crumb: Breadcrumb) -> list[str]:
    return [line["text"] for line in lines(crumb) if line["verbatim"]]


def remarks(first: int, number: int) -> list[Breadcrumb]:
    return [make_breadcrumb(f"Remark {n} on the kiln.", n) for n in range(first, first + number)]


async def test_what_compact_kept_word_for_word_stays_on_the_page_and_stands_in_one_summary_only() -> None:
    builder, profile = await reporting(10, cap=30)
    one, two, three = (Publishing(builder, make_place(first)) for first in (1000, 1200, 1300))
    first = await make_summarising(builder, one, profile).compact("acme", "s42", profile)
    kept = verbatim(one.out[0])
    assert len(kept) == 5
    await remember(builder, [*remarks(1100, 6), report(1106), *remarks(1107, 4)])
    await look_once(builder, profile, 1110, two)
    assert len(two.out) == 3
    assert not [text for crumb in two.out for text in verbatim(crumb)]
    shown = await summary(builder, profile)
    assert all(text in shown for text in kept)
    second = await make_summarising(builder, three, profile).compact("acme", "s42", profile)
    new = verbatim(three.out[0])
    assert new == [f"User: Remark {n} on the kiln." for n in (1105,)]
    assert second.tokens_before > first.tokens_after
    assert second.tokens_after > first.tokens_after
    told = [re.sub(r"^- (\[.*?\] )?", "", line) for line in (await summary(builder, profile)).split("\n")]
    assert [text for text in told if text in {*kept, *new}] == [*kept, *new]


async def test_words_that_are_too_many_for_one_summary_are_kept_by_several() -> None:
    builder, profile = make_builder(), summing(cap=30, keep=0)
    sizes = []
    for start in range(1, 900, 100):
        crates = [make_breadcrumb(f"Crate {n} holds 7 cups.", n) for n in range(start, start + 10)]
        await remember(builder, [*crates, report(start + 10)])
        publishing = Publishing(builder, make_place(start + 50))
        result = await make_summarising(builder, publishing, profile, max_bytes=4_000).compact("acme", "s42", profile)
        sizes.append(len(publishing.out[0].body))
    assert sum(sizes) > 2 * 4_000
    assert max(sizes) < 1.2 * min(sizes)
    assert result.tokens_after > 9 * 10 * 5
    assert "- [8 May 2024] User: Crate 1 holds 7 cups.\n- User: Crate 2 holds" in await summary(builder, profile)
    await remember(builder, [make_breadcrumb("A very long story. " * 300, 990)])
    with pytest.raises(Rejected, match="allowed are 4,000"):
        await make_summarising(builder, Publishing(builder, BEHIND), profile, max_bytes=4_000).compact("acme", "s42", profile)


async def test_what_was_kept_word_for_word_is_kept_so_when_it_is_edited() -> None:
    builder, profile = await reporting(20, cap=30)
    await make_summarising(builder, Publishing(builder, BEHIND), profile).compact("acme", "s42", profile)
    assert "how is your week number 4?" in await summary(builder, profile)
    await remember(builder, [make_breadcrumb("Why is that?", id="m4", version=2, place=make_place(1100)), *remarks(1101, 4)])
    assert "how is your week number 4?" not in await page(builder, profile, 1900)
    publishing = Publishing(builder, make_place(1200))
    await make_summarising(builder, publishing, profile).compact("acme", "s42", profile, keep_user=False)
    assert verbatim(publishing.out[0]) == ["User: Why is that?"]
    assert (await summary(builder, profile)).count("User: Why is that?") == 1


async def test_lines_word_for_word_and_others_stand_in_the_order_in_which_they_were_said() -> None:
    builder, profile = make_builder(), summing(cap=200, keep=0)
    said = [
        make_breadcrumb(text, n, schema="user.message.v1" if n % 2 else "agent.response.v1",
                        speaker="User" if n % 2 else "Assistant", role="user" if n % 2 else "assistant")
        for n, text in enumerate(FACTS, 1)
    ]  # fmt: skip
    thanks = make_breadcrumb("You're welcome!", 8, schema="agent.response.v1", role="assistant", speaker="Assistant")
    await remember(builder, [*said, thanks])
    publishing = Publishing(builder, BEHIND)
    await make_summarising(builder, publishing, profile).compact("acme", "s42", profile)
    assert [line["ids"] for line in lines(publishing.out[0])] == [[f"m{n}"] for n in range(1, 7)]
    await remember(builder, remarks(1100, 6))
    shown = await summary(builder, profile)
    assert [text.removeprefix("- [8 May 2024] ") for text in shown.split("\n")[1:] if text] == [
        f"{'' if n == 1 else '- '}{'User' if n % 2 else 'Assistant'}: {text}" for n, text in enumerate(FACTS, 1)
    ]


async def test_lines_that_a_summary_of_an_earlier_release_repeats_are_shown_once() -> None:
    builder, profile = await reporting(10, cap=30)
    publishing = Publishing(builder, BEHIND)
    await make_summarising(builder, publishing, profile).compact("acme", "s42", profile)
    await remember(builder, remarks(1100, 10))
    made = Publishing(builder, make_place(1200), remembering=False)
    await look_once(builder, profile, 1109, made)
    body = json.loads(made.out[0].body)
    repeating = body | {"lines": [*lines(publishing.out[0]), *body["lines"]]}
    del repeating["versions"]
    await builder.remember(replace(made.out[0], body=json.dumps(repeating)))
    assert (await summary(builder, profile)).count("The blue kiln is K-4711.") == 1
    assert await chain(builder, profile) == (*publishing.out[0].covers, *made.out[0].covers)


async def test_compact_without_what_people_said_keeps_to_the_cap() -> None:
    builder, profile = await talking(40, cap=60)
    publishing = Publishing(builder, BEHIND)
    outcome = await make_summarising(builder, publishing, profile).compact("acme", "s42", profile, keep_user=False)
    assert outcome.tokens_after <= 60 < outcome.tokens_before


async def test_compact_refuses_a_profile_without_summaries() -> None:
    builder, profile = make_builder(), make_profile(summaries=None)
    with pytest.raises(Rejected, match="has no summaries"):
        await make_summarising(builder, Publishing(builder, BEHIND), profile).compact("acme", "s42", profile)


async def test_a_secret_summary_stands_for_nothing_and_breaks_no_build() -> None:
    builder, profile = make_builder(), summing()
    record = {"id": "hush", "sensitivity": "secret", "context": {"lines": [], "covered": ["m1"]}}
    data, subject = json.dumps(record).encode(), "breadcrumbs.acme.s42.summary.v1"
    secret = decode(StreamMessage(subject=subject, data=data, place=make_place(9), received_at=MORNING, replay=True))
    await remember(builder, [*talk(8), secret])
    shown = await page(builder, profile)
    assert "K-4711" in shown
    assert "## Earlier in this conversation" not in shown


async def test_the_loop_and_compact_take_turns_so_nothing_is_summarised_twice() -> None:
    builder, profile = await talking(12)
    publishing = Publishing(builder, BEHIND)
    loop = make_summarising(builder, publishing, profile)
    await asyncio.gather(loop.look("acme", "s42", make_place(12)), loop.compact("acme", "s42", profile))
    covers = [identity for crumb in publishing.out for identity in crumb.covers]
    assert sorted(covers) == sorted(set(covers))
    assert await chain(builder, profile) == tuple(covers)


@pytest.mark.parametrize("speakers", [("Ana", "Ben"), ("Ana",)])
async def test_a_chat_between_people_gets_no_summary_that_only_repeats_it(speakers: tuple[str, ...]) -> None:
    builder, profile = make_builder(), summing(cap=200)
    said = [
        make_breadcrumb(f"{fact} Remember it.", n, speaker=speakers[n % len(speakers)], user_id=speakers[n % len(speakers)])
        for n, fact in enumerate(FACTS * 3, 1)
    ]
    await remember(builder, said)
    before, publishing = await page(builder, profile), Publishing(builder, BEHIND)
    outcome = await make_summarising(builder, publishing, profile).compact("acme", "s42", profile)
    assert (publishing.out, outcome.units, outcome.tokens_after) == ([], 0, outcome.tokens_before)
    assert re.fullmatch(
        r"the summary would have ([\d,]+) tokens and save nothing of the \1 of what it stands for", outcome.reason
    )
    assert await page(builder, profile) == before


async def test_compact_says_why_when_there_is_nothing_to_summarise() -> None:
    builder, profile = await talking(3)
    outcome = await make_summarising(builder, Publishing(builder, BEHIND), profile).compact("acme", "s42", profile)
    assert outcome.reason == "the session has no units beyond those that are kept"


async def test_an_answer_that_is_kept_word_for_word_has_its_question_in_front_of_it() -> None:
    builder, profile = make_builder(), summing(cap=60, keep=2)
    agent = {"schema": "agent.response.v1", "role": "assistant", "speaker": "Assistant"}
    said = [
        make_breadcrumb("The kiln in Delft needs a new coil, and Nina asked for a second one as well.", 1, **agent),
        make_breadcrumb("I looked at 12 shops. Which coil shall I order?", 2, **agent),
        make_breadcrumb("The red one.", 3),
        make_breadcrumb("It is ordered for 3 May from the shop in Limoges, and costs 90 euros with the transport.", 4, **agent),
        *remarks(5, 4),
    ]
    await remember(builder, said)
    publishing = Publishing(builder, BEHIND)
    await make_summarising(builder, publishing, profile).compact("acme", "s42", profile)
    texts = [line["text"] for line in lines(publishing.out[0])]
    assert texts[texts.index("User: The red one.") - 1].startswith("Assistant: I looked at 12 shops. Which coil")
