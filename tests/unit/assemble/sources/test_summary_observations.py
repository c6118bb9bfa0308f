"""Observations by a real endpoint on a page: found like messages, shown in their place, gone with them."""

import cProfile
import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from builder.adapters.sql.derivation import made_from
from builder.assemble.sources.summary import OBSERVED, STOOD_FOR
from builder.domain.profile import Profile
from builder.domain.summary import KeptLine, Utterance
from builder.extras.endpoints.summarizer import EndpointSummarizer
from builder.extras.explain.explanation import PageExplanation
from builder.recall.summaries.observations import observations_of
from builder.service import ContextBuilder
from tests.completions import Server, said
from tests.conversations import deleted
from tests.factories import make_breadcrumb, make_place
from tests.summarised import (
    BEHIND,
    COUNT,
    Endpoint,
    Publishing,
    make_builder,
    make_summarising,
    model_at,
    page,
    remember,
    summing,
)

SAID = {
    1: "Henk called, he wants 900 euros a month for the studio, that is the rent now.",
    4: "lru_cache in prices.py keeps 512 entries, and the clay for it all comes from Limoges by the way.",
    9: "Henk again, sigh. He raises the rent of the studio to 950 euros from June.",
}
WORDS = {
    "900 euros": "900 euros a month, to Henk",
    "512 entries": "keeps 512 entries",
    "950 euros": "950 euros from June, to Henk",
}
SUBJECTS = {"900 euros": "rent", "512 entries": "lru_cache", "950 euros": "rent"}


class Model(Server):
    """Observes what it was told to, as a language model may, and that the second rent replaces the first."""

    async def answer(self, request: Request) -> Response:
        (_, data) = (message["content"] for message in (await request.json())["messages"])
        items = {part: int(line.partition(".")[0]) for line in data.split("\n") for part in WORDS if part in line}
        new = {part: number for part, number in items.items() if f"{number}. [earlier" not in data}
        observations = [
            {
                "subject": SUBJECTS[part],
                "text": WORDS[part],
                "items": [number],
                "replaces": items["900 euros"] if part == "950 euros" else None,
            }
            for part, number in new.items()
        ]
        return said(
            {"observations": observations or [{"subject": "week", "text": "nothing new", "items": [data.count("\n") - 1]}]}
        )()


@asynccontextmanager
async def observed() -> AsyncIterator[tuple[ContextBuilder, Profile, Publishing]]:
    """A session whose older part was observed, and a profile whose pages begin late."""
    builder, profile = make_builder(), summing(by="endpoint", cap=300)
    talk = [make_breadcrumb(SAID.get(n, f"And how was week number {n}?"), n) for n in range(1, 25)]
    await remember(builder, talk)
    publishing = Publishing(builder, BEHIND)
    async with Model().running() as url, EndpointSummarizer(model_at(url), COUNT) as endpoint:
        await make_summarising(builder, publishing, profile, endpoint=endpoint).look("acme", "s42", make_place(24))
    retrieval = replace(profile.retrieval, min_probability=None, max_results=2)
    yield builder, replace(profile, window=replace(profile.window, max_units=4, trim_to=2), retrieval=retrieval), publishing


async def test_an_observation_is_shown_once_with_its_date_in_the_place_of_the_message_that_would_be_found() -> None:
    async with observed() as (builder, profile, _):
        shown = await page(builder, profile, 1900, "How many entries does the cache lru_cache keep?")
        dateless = replace(profile, sections=tuple(replace(rule, dates="none") for rule in profile.sections))
        undated = await page(builder, dateless, 1900, "How many entries does the cache lru_cache keep?")
    assert shown.count("- lru_cache: keeps 512 entries") == 1
    assert shown.partition("## Relevant")[2].partition("## Current")[0].count("[8 May 2024]") == 1
    assert undated.count("- [8 May 2024] lru_cache: keeps 512 entries") == 1
    assert SAID[4] not in shown


async def test_an_observation_without_room_is_left_out_with_its_own_tokens() -> None:
    async with observed() as (builder, profile, _):
        trigger = make_breadcrumb("How many entries does the cache lru_cache keep?", 1900)
        whole, _assembly = await builder.explain(trigger, profile)
        context, _assembly = await builder.explain(trigger, replace(profile, budget=whole.tokens // 2))
    assert "512" not in context.markdown
    (left_out,) = (omission for omission in context.omissions if omission.id == "m4")
    assert left_out.tokens == COUNT("- lru_cache: keeps 512 entries\n")


async def test_the_account_and_the_receipt_name_the_summary_and_say_why_the_message_is_not_there() -> None:
    async with observed() as (builder, profile, publishing):
        trigger = make_breadcrumb("How many entries does the cache lru_cache keep?", 1900)
        context, assembly = await builder.explain(trigger, profile)
        explanation = PageExplanation(assembly)
        (summary,) = (crumb.id for crumb in publishing.out if "512" in crumb.body)
        found = next(section for section in context.sections if section.name == "relevant")
        parts = [part for part in explanation.receipt().parts if part.section == "relevant" and part.source]
        assert context.tokens == COUNT(context.markdown)
        assert list(found.tokens_by_id) == [summary]
        assert [(part.source.id, part.reason) for part in parts if part.source] == [(summary, OBSERVED)]
        assert STOOD_FOR in explanation.why("m4")
        assert STOOD_FOR in {omission.reason for omission in context.omissions if omission.id == "m4"}


async def test_what_replaces_an_observation_is_shown_and_never_beside_it() -> None:
    async with observed() as (builder, profile, _):
        shown = await page(builder, profile, 1900, "What rent does Henk get, 900 euros a month?")
    assert shown.count("rent: 950 euros from June, to Henk") == 1
    assert "rent: 900" not in shown


async def test_a_word_that_only_a_message_and_its_observation_have_finds_them_at_any_probability() -> None:
    async with observed() as (builder, profile, _):
        improbable = replace(profile, retrieval=replace(profile.retrieval, min_probability=0.9999))
        shown = await page(builder, improbable, 1900, "Zeig mir lru_cache")
    assert shown.count("lru_cache: keeps 512 entries") == 1
    assert "## Relevant" in shown


async def test_a_message_that_alone_has_a_word_of_the_question_stays_a_message() -> None:
    async with observed() as (builder, profile, _):
        shown = await page(builder, profile, 1900, "Where is Limoges clay?")
    assert SAID[4] in shown
    assert "keeps 512 entries" not in shown.replace(SAID[4], "")


async def test_without_its_message_an_observation_is_gone_and_replaces_nothing() -> None:
    async with observed() as (builder, profile, publishing):
        await builder.remember(deleted(1500, "m9").breadcrumb)
        shown = await page(builder, profile, 1900, "What is the rent?")
        of_message = [crumb for crumb in publishing.out if "950" in crumb.body]
        assert of_message
        assert set(of_message) <= set(made_from(publishing.out, {"m9"}))
    assert "950" not in shown
    assert "rent: 900 euros a month" in shown


async def test_a_profile_with_other_settings_finds_no_observation_that_was_not_made_for_it() -> None:
    async with observed() as (builder, profile, publishing):
        other = replace(profile, summaries=replace(profile.summaries, cap=301))  # type: ignore[type-var]
        shown = await page(builder, other, 1900, "How many entries does the cache lru_cache keep?")
    assert all(json.loads(crumb.body)["by"] == "mini" for crumb in publishing.out)
    assert "lru_cache: keeps" not in shown
    assert SAID[4] in shown


class Observer(Endpoint):
    """Observes every message."""

    async def summarise(self, lines: tuple[KeptLine, ...], said: tuple[Utterance, ...], cap: int) -> tuple[KeptLine, ...]:
        (line,) = await super().summarise(lines, said, cap)
        return tuple(replace(line, text=one.text, ids=(one.id,), versions=(1,), id=f"of-{one.id}") for one in said)


async def calls(messages: int) -> tuple[int, int]:
    """How often a page of a session of so many messages looks for observations, and how many lines it writes."""
    builder, profile = make_builder(), replace(summing(by="endpoint", batch=50), budget=500)
    await remember(builder, [make_breadcrumb(f"Crate {n} holds {n * 7} cups for Delft.", n) for n in range(1, messages + 1)])
    await make_summarising(builder, Publishing(builder, BEHIND), profile, endpoint=Observer()).look(
        "acme", "s42", make_place(messages)
    )
    with cProfile.Profile() as work:
        await page(builder, profile, 1900, "And what is it now?")
    counts = {each.code: each.callcount for each in work.getstats()}
    return counts[observations_of.__code__], counts[dataclasses.fields.__code__]


async def test_a_page_writes_no_more_of_nine_hundred_observations_than_of_a_hundred_and_looks_for_them_once() -> None:
    few, many = await calls(100), await calls(900)
    assert few[0] == many[0] == 1
    assert many[1] < 2 * few[1]
