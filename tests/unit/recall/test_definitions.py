"""The definitions that count as of a place."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from builder.adapters.sql.store import SqlStore
from builder.domain.stored import StoredBreadcrumb
from builder.recall.definitions import definitions_as_of
from tests.conversations import deleted, sent
from tests.factories import make_place
from tests.stores import durable_store


@pytest.fixture
def store() -> Iterator[SqlStore]:
    store = durable_store()
    yield store
    store.close()


def agent(sequence: int, name: str, version: int = 1, session: str = "_") -> StoredBreadcrumb:
    return sent(sequence, "agent.def.v1", {"agent_id": name}, session, id=name, version=version)


async def versions(store: SqlStore, until: int, workspace: str = "acme") -> dict[str, int]:
    definitions = await definitions_as_of(store, workspace, make_place(until))
    return {each.id: each.version for each in definitions}


async def test_the_newest_version_of_each_as_of_the_place_counts_until_it_is_removed(store: SqlStore) -> None:
    rows = [agent(1, "a"), agent(2, "b"), agent(3, "a", 2), deleted(5, "b", "_"), agent(7, "a", 3)]
    rows.append(sent(4, "context.config.v1", {"consumer_id": "a"}, "_", id="c"))
    for row in rows:
        await store.remember(row)
    assert await versions(store, 0) == {}
    assert await versions(store, 2) == {"a": 1, "b": 1}
    assert await versions(store, 4) == {"a": 2, "b": 1, "c": 1}
    assert await versions(store, 5) == {"a": 2, "c": 1}
    assert await versions(store, 9) == {"a": 3, "c": 1}


async def test_the_definitions_of_a_session_and_of_another_workspace_do_not_count(store: SqlStore) -> None:
    await store.remember(agent(1, "a", session="s42"))
    theirs = agent(2, "b")
    await store.remember(replace(theirs, breadcrumb=replace(theirs.breadcrumb, workspace="rival")))
    await store.remember(deleted(3, "b", "_"))
    assert await versions(store, 9) == {}
    assert await versions(store, 9, "rival") == {"b": 1}
