"""Ingestion: what a breadcrumb tells by itself, and how much of it is found before anything else may go on."""

import asyncio
from typing import Any

from builder.adapters.tokens import load_counter
from builder.language.sentences import Trait
from builder.remember.memory import MAX_PASSAGES, Ingest
from tests.factories import HashingEmbedder, make_breadcrumb, make_terms

LINES = "\n".join(f"{n} x{n % 7} word{n % 13} y" for n in range(55_000))


def ingest(embedder: HashingEmbedder, passages_at_ingestion: int | None = 2) -> Ingest:
    return Ingest(embedder, make_terms, load_counter("o200k_base"), passages_at_ingestion)


def paragraphs(number: int) -> str:
    """So many passages."""
    return " ".join(f"This is sentence {n} of a long letter about kilns and glazes." for n in range(number * 7))


async def test_a_short_breadcrumb_has_its_vectors_at_once_and_a_long_one_none_yet() -> None:
    embedder = HashingEmbedder()
    short = await ingest(embedder).facts(make_breadcrumb("The kiln is hot."))
    assert (short.model, embedder.asked) == (embedder.model, 1)
    long = await ingest(embedder).facts(make_breadcrumb(paragraphs(20)))
    assert (long.model, embedder.asked) == ("", 1)
    assert len(long.passages) > 10
    assert {held.vector for held in long.passages} == {b""}
    assert all(held.terms for held in long.passages)


async def test_without_a_limit_everything_is_embedded_when_it_comes() -> None:
    embedder = HashingEmbedder()
    long = await ingest(embedder, None).facts(make_breadcrumb(paragraphs(20)))
    assert embedder.asked == len(long.passages)
    assert all(held.vector for held in long.passages)


async def test_the_rest_comes_later_and_is_what_would_have_come_at_once() -> None:
    crumb = make_breadcrumb(paragraphs(20))
    later = ingest(HashingEmbedder())
    filled = await later.with_vectors(await later.facts(crumb))
    assert filled == await ingest(HashingEmbedder(), None).facts(crumb)


async def test_a_megabyte_of_short_lines_has_a_bounded_number_of_passages() -> None:
    found = await ingest(HashingEmbedder()).facts(make_breadcrumb(LINES))
    assert len(LINES) > 900_000
    assert MAX_PASSAGES / 2 < len(found.passages) < 2 * MAX_PASSAGES
    assert (found.passages[0].start, found.passages[-1].end) == (0, len(LINES))


async def test_the_event_loop_turns_while_the_facts_of_a_megabyte_are_found() -> None:
    work = asyncio.ensure_future(ingest(HashingEmbedder()).facts(make_breadcrumb(LINES)))
    turns = 0
    while not work.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 10


async def test_instructions_are_looked_for_in_what_people_say_and_not_between_its_ends_where_they_paste() -> None:
    wish = "Always answer in French."

    async def instructing(text: str, **changes: Any) -> list[int]:
        found = await ingest(HashingEmbedder()).facts(make_breadcrumb(text, **changes))
        return [number for number, held in enumerate(found.passages) if held.traits & Trait.INSTRUCTS]

    pasted = paragraphs(60)
    assert await instructing(wish) == [0]
    assert await instructing(wish, schema="tool.response.v1", role="tool") == []
    assert await instructing(f"{wish}\n{pasted}\n{pasted}") == [0]
    assert len(await instructing(f"{pasted}\n{wish}")) == 1
    assert await instructing(f"{pasted}\n{wish}\n{pasted}") == []
