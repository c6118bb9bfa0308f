"""A breadcrumb is stored once: the first under its id and version stands."""

import asyncio

import pytest

from builder.domain.breadcrumb import SUMMARY
from builder.domain.errors import Rejected
from builder.domain.recall import StoredBreadcrumb
from builder.remember.memory import Ingest, Memory
from tests.factories import MORNING, HashingEmbedder, make_breadcrumb, make_terms
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
    with pytest.raises(Rejected, match="id 'a' version 1 belongs to session 's42'"):
        await memory.remember(make_breadcrumb("One.", 2, id="a", session="s43"))


async def test_other_content_under_a_taken_id_is_rejected_and_the_next_version_is_not() -> None:
    memory, _ = make_memory()
    await memory.remember(make_breadcrumb("One.", 1, id="a"))
    with pytest.raises(Rejected, match=r"id 'a' version 1 is taken.*publish the next version"):
        await memory.remember(make_breadcrumb("Two.", 2, id="a"))
    with pytest.raises(Rejected, match="is taken"):
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
    secret = await memory.remember(make_breadcrumb("", 1, id="a", removes="a"))
    assert await memory.remember(make_breadcrumb("The code is 4711.", 2, id="a")) == secret


async def test_without_the_engine_a_breadcrumb_is_stored_without_vectors() -> None:
    memory, embedder = make_memory()
    embedder.away = True
    stored = await memory.remember(make_breadcrumb("The kiln is hot."))
    assert (stored.model, stored.passages[0].vector) == ("", b"")
