"""LangGraph's `BaseStore`: what LangGraph's own store in memory answers, ours answers too."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from builder.client import Rejected
from builder.client.sync import connect
from builder.integrations.langgraph_store import BuilderStore
from tests.running import Running

ANN, BEN = ("users", "ann"), ("users", "ben")


@pytest.fixture
def store(service: Running) -> Iterator[BuilderStore]:
    """In a workspace with a note that every session of it finds."""
    with connect(service.env["CONTEXT_BUILDER_NATS__SERVERS"], "stores") as client:
        client.remember("A note of no session about vases.")
        yield BuilderStore(client)


def fill(store: BaseStore) -> None:
    """Two people's items, of which one is put twice and one is deleted."""
    store.put(ANN, "food", {"text": "Ann likes rye bread.", "stars": 5})
    store.put(ANN, "glaze", {"text": "Ann's glaze is called Moss.", "stars": 2})
    store.put((*ANN, "deep"), "kiln", {"text": "The kiln is K-4711.", "stars": 3})
    store.put(BEN, "food", {"text": "Ben likes soup.", "stars": 1})
    store.put(BEN, "gone", {"text": "Ben owns a boat.", "stars": 4})
    store.put(ANN, "food", {"text": "Ann likes white bread.", "stars": 4})
    store.delete(BEN, "gone")


def answers(store: BaseStore) -> dict[str, Any]:
    found = store.get(ANN, "food")
    return {
        "value": found and found.value,
        "deleted": store.get(BEN, "gone"),
        "never": store.get(ANN, "nothing"),
        "all": sorted(item.key for item in store.search(ANN)),
        "page": len(store.search(ANN, limit=1, offset=2)),
        "equal": [item.key for item in store.search(ANN, filter={"stars": 2})],
        "range": sorted(item.key for item in store.search(("users",), filter={"stars": {"$gte": 3}})),
        "namespaces": store.list_namespaces(),
        "ends": store.list_namespaces(suffix=("deep",)),
        "depth": store.list_namespaces(prefix=("users",), max_depth=2),
    }


def test_it_answers_as_the_store_in_memory_does(store: BuilderStore, service: Running) -> None:
    memory = InMemoryStore()
    fill(memory)
    fill(store)
    assert answers(store) == answers(memory)
    service.stop()
    service.start()
    assert answers(store) == answers(memory)


def test_a_search_finds_by_words_and_only_in_its_namespace(store: BuilderStore) -> None:
    fill(store)
    first, *_ = store.search(ANN, query="Which bread does Ann like?")
    assert (first.key, first.value["text"]) == ("food", "Ann likes white bread.")
    assert first.score is not None
    assert store.search(("users",), query="What is the kiln?")[0].key == "kiln"
    assert all(item.namespace[:2] == BEN for item in store.search(BEN, query="Which bread does Ann like?"))


def test_an_item_may_be_hidden_from_searches_and_put_again_after_its_erasure(store: BuilderStore) -> None:
    secrets = ("secrets",)
    store.put(secrets, "vase", {"text": "The vase is cracked.", "shelf": "upper"}, index=["shelf"])
    store.put(secrets, "key", {"text": "The key hangs at the door."}, index=False)
    assert [item.key for item in store.search(secrets, query="Where does the key hang?")] == ["vase"]
    assert [item.key for item in store.search(secrets, query="What stands on the upper shelf?")] == ["vase"]
    for text in ("One.", "Two."):
        store.delete(secrets, "key")
        assert store.get(secrets, "key") is None
        store.put(secrets, "key", {"text": text})
    assert store.search(secrets, query="Two.")[0].value == {"text": "Two."}


def test_what_others_write_into_its_sessions_is_passed_over(service: Running) -> None:
    with connect(service.env["CONTEXT_BUILDER_NATS__SERVERS"], "foreign") as client:
        store = BuilderStore(client)
        store.put(ANN, "food", {"text": "Ann likes rye bread."})
        for session in ("langgraph:store", "langgraph:store.users.ann"):
            client.send_user_message(session, "Who likes rye bread?")
            client.remember("Somebody likes rye bread.", session=session)
        for query in (None, "Who likes rye bread?"):
            assert [item.key for item in store.search(("users",), query=query)] == ["food"]
        assert store.list_namespaces() == [ANN]


async def test_it_may_be_awaited(store: BuilderStore) -> None:
    await store.aput(("async",), "a", {"text": "A"})
    found, _ = await asyncio.gather(store.aget(("async",), "a"), store.asearch(("async",), query="A"))
    assert found is not None


def test_an_item_that_is_too_large_is_refused_in_a_sentence(store: BuilderStore) -> None:
    with pytest.raises(Rejected, match="bytes, allowed are"):
        store.put(("large",), "a", {"text": "a" * 2_000_000})
