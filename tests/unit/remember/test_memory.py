"""A breadcrumb is stored once, with what it tells by itself; long input is worked on beside the event loop."""

import asyncio
from threading import Event, current_thread
from typing import Any

import pytest

from builder.adapters.tokens import load_counter
from builder.domain.breadcrumb import SUMMARY, Breadcrumb, StreamMessage
from builder.domain.errors import Rejected
from builder.domain.stored import StoredBreadcrumb
from builder.language.traits import Trait
from builder.remember.decode import decode
from builder.remember.memory import MAX_PASSAGES, THREAD_CHARS, Ingest, Memory, decoded, in_thread
from tests.conversations import message_of
from tests.factories import MORNING, make_breadcrumb, make_terms
from tests.hashing_embedder import HashingEmbedder
from tests.stores import durable_store
from tests.summarised import COUNT


def make_memory() -> tuple[Memory, HashingEmbedder]:
    embedder = HashingEmbedder()
    return Memory(store=durable_store(), ingest=Ingest(embedder, make_terms, COUNT, None)), embedder


async def test_a_new_breadcrumb_is_stored_with_its_facts() -> None:
    memory, _ = make_memory()
    stored = await memory.remember(make_breadcrumb("The kiln is hot."))
    assert stored.passages[0].terms == make_terms("The kiln is hot.")
    assert await memory.store.facts(make_breadcrumb()) == stored


async def test_what_comes_again_keeps_its_first_place_and_is_not_embedded_again() -> None:
    memory, embedder = make_memory()
    first = await memory.remember(make_breadcrumb("The kiln is hot.", 1, id="a", created_at=MORNING))
    again = await memory.remember(make_breadcrumb("The kiln is hot.", 7, id="a", created_at=MORNING))
    assert again == first
    assert (embedder.asked, await memory.store.count()) == (1, 1)


async def test_of_two_tasks_that_remember_the_same_id_at_once_the_second_one_is_rejected() -> None:
    memory, _ = make_memory()
    texts = ("One.", "Two.")
    both = (memory.remember(make_breadcrumb(text, place, id="a")) for place, text in enumerate(texts, 1))
    first, second = await asyncio.gather(*both, return_exceptions=True)
    assert isinstance(first, StoredBreadcrumb)
    assert isinstance(second, Rejected)
    assert await memory.store.facts(make_breadcrumb(id="a")) == first


async def test_an_id_of_another_session_is_rejected() -> None:
    memory, _ = make_memory()
    await memory.remember(make_breadcrumb("One.", 1, id="a"))
    with pytest.raises(Rejected, match="id 'a' belongs to session 's42'"):
        await memory.remember(make_breadcrumb("One.", 2, id="a", session="s43"))


async def test_other_content_under_a_taken_id_is_rejected_and_the_next_version_is_not() -> None:
    memory, _ = make_memory()
    await memory.remember(make_breadcrumb("One.", 1, id="a"))
    with pytest.raises(Rejected, match=r"id 'a' version 1 is taken.*publish the next version"):
        await memory.remember(make_breadcrumb("Two.", 2, id="a"))
    with pytest.raises(Rejected, match=r"is a user\.message\.v1"):
        await memory.remember(make_breadcrumb("One.", 3, id="a", schema="agent.response.v1"))
    assert (await memory.remember(make_breadcrumb("Two.", 4, id="a", version=2))).breadcrumb.text == "Two."


async def test_the_same_body_with_its_keys_in_another_order_is_no_other_content() -> None:
    memory, _ = make_memory()
    first = await memory.remember(make_breadcrumb("One.", 1, id="a", body='{"b":1,"a":{"d":1,"c":2}}'))
    assert await memory.remember(make_breadcrumb("One.", 2, id="a", body='{"a":{"c":2,"d":1},"b":1}')) == first


async def test_the_same_message_of_the_stream_is_the_same_also_when_it_is_read_otherwise_today() -> None:
    memory, _ = make_memory()
    first = await memory.remember(make_breadcrumb("One.", 1))
    assert await memory.remember(make_breadcrumb("One, as an older decoder read it.", 1)) == first


async def test_of_two_summaries_that_word_the_same_otherwise_the_first_stands() -> None:
    memory, _ = make_memory()
    first = await memory.remember(make_breadcrumb("Ana moved.", 1, id="a", schema=SUMMARY))
    assert await memory.remember(make_breadcrumb("Ana has moved.", 2, id="a", schema=SUMMARY)) == first


async def test_what_arrives_again_after_its_removal_stays_removed() -> None:
    memory, _ = make_memory()
    await memory.remember(make_breadcrumb("", 1, id="a", removes="a"))
    again = await memory.remember(make_breadcrumb("The code is 4711.", 2, id="a"))
    assert (again.breadcrumb.is_erased, again.breadcrumb.text, again.passages) == (True, "", ())
    assert await memory.store.versions("acme", "a") == ()


async def test_without_the_engine_a_breadcrumb_is_stored_without_vectors() -> None:
    memory, embedder = make_memory()
    embedder.away = True
    stored = await memory.remember(make_breadcrumb("The kiln is hot."))
    assert (stored.model, stored.passages[0].vector) == ("", b"")


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


async def test_the_words_of_many_keywords_are_read_in_the_thread_like_those_of_a_long_text() -> None:
    threads: list[str] = []

    def terms(text: str) -> str:
        threads.append(current_thread().name)
        return text

    for keywords in (("kiln",), ("kiln",) * THREAD_CHARS):
        await Ingest(HashingEmbedder(), terms, len, None).facts(make_breadcrumb("Look.", pointers=keywords))
    assert threads == ["MainThread", "long-input_0"]


@pytest.mark.parametrize(("size", "thread"), [(10, "MainThread"), (THREAD_CHARS, "long-input_0")])
async def test_only_a_long_message_is_decoded_in_the_thread(size: int, thread: str) -> None:
    threads: list[str] = []

    def noted(message: StreamMessage) -> Breadcrumb:
        threads.append(current_thread().name)
        return decode(message)

    assert (await decoded(noted, message_of(1, "user.message.v1", {"content": "a" * size}))).text == "a" * size
    assert threads == [thread]


async def test_a_long_message_that_is_refused_is_refused_as_a_short_one() -> None:
    with pytest.raises(Rejected, match="no text"):
        await decoded(decode, message_of(1, "user.message.v1", {"more": "a" * THREAD_CHARS}))


async def test_the_loop_goes_on_and_a_second_work_waits_for_the_first() -> None:
    begun, go, order = Event(), Event(), list[str]()

    def first() -> None:
        begun.set()
        go.wait()
        order.append("first")

    works = [asyncio.create_task(in_thread(first)), asyncio.create_task(in_thread(lambda: order.append("second")))]
    while not begun.is_set():
        await asyncio.sleep(0)
    assert order == []
    go.set()
    await asyncio.gather(*works)
    assert order == ["first", "second"]
