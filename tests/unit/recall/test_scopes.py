"""Where the contexts of a trigger are looked for, how long a chain of answers may be, and which definitions count."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from typing_extensions import override

from builder.adapters.sql.store import SqlStore
from builder.domain.breadcrumb import Place
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION, Scope
from builder.domain.stored import StoredBreadcrumb
from builder.recall.causal_chain import chain_refusals
from builder.recall.definitions import definitions_as_of
from builder.recall.scopes import scope_of, scopes_before
from tests.conversations import deleted, sent
from tests.factories import make_breadcrumb, make_context, make_place, make_profile, make_remembered
from tests.stores import DurableStore, durable_store


def test_a_profile_says_where_it_looks_and_the_own_session_is_always_part_of_it() -> None:
    trigger = make_breadcrumb(session="s5")
    where = {
        "session": ("s5",),
        "workspace": (EVERY_SESSION,),
        ("s9", "s1"): ("s1", "s5", "s9"),
        ("s5",): ("s5",),
    }
    profiles = tuple(make_profile(retrieval={"scope": scope}) for scope in where)
    assert [scope_of(trigger, profile).sessions for profile in profiles] == list(where.values())
    notes = ("note.v1",)
    assert scopes_before(trigger, profiles) == (
        Scope(workspace="acme", sessions=("s5",), shared=notes),
        Scope(workspace="acme", sessions=(EVERY_SESSION,)),
        Scope(workspace="acme", sessions=("s1", "s5", "s9"), shared=notes),
    )


def test_another_sessions_instructions_neither_rule_the_page_nor_supersede_the_own() -> None:
    rows = [
        make_remembered("Always answer in English, please.", 1, session="s1"),
        make_remembered("From now on always answer in German.", 2, session="s2"),
        *(make_remembered(f"The kiln of order {n} is dry.", n, session="s1") for n in range(3, 40)),
    ]
    profile = make_profile(budget=400, retrieval={"scope": "workspace"})
    context = make_context(make_remembered("Is the kiln dry?", 99, session="s1"), rows, profile)
    conversation_rows = {section.name: section.ids for section in context.sections}
    assert conversation_rows["instructions"] == ("m1",)


def test_breadcrumbs_of_no_session_are_shared_with_every_session_but_not_with_themselves() -> None:
    profile = make_profile(retrieval={"schemas": ("user.message.v1", "knowledge.v1", "note.v1")})
    assert scope_of(make_breadcrumb(), profile).shared == ("knowledge.v1", "note.v1")
    assert scope_of(make_breadcrumb(session="_"), profile) == Scope(workspace="acme", sessions=("_",))
    silent = make_profile(retrieval={"schemas": ("user.message.v1",)})
    assert scope_of(make_breadcrumb(), silent).shared == ()


class CountingStore(DurableStore):
    """Notes how many links were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.limits: list[int] = []

    @override
    async def chain(self, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
        self.limits.append(limit)
        return await super().chain(workspace, identity, until, limit)


async def answering(length: int) -> CountingStore:
    """m1, and each next breadcrumb answers the one before it."""
    store = CountingStore()
    for number in range(1, length + 1):
        await store.remember(make_remembered(f"Remark {number}.", number, answers=f"m{number - 1}" if number > 1 else ""))
    return store


def consumers(*limits: int) -> tuple[Profile, ...]:
    return tuple(make_profile(consumer=f"at {limit}", recursion_limit=limit) for limit in limits)


async def test_the_chain_is_read_once_and_no_further_than_one_step_above_the_highest_limit() -> None:
    store = await answering(3)
    await chain_refusals(store, make_breadcrumb("Go on.", 4, answers="m3"), consumers(2, 9, 5))
    assert store.limits == [10]


async def test_what_answers_nothing_and_what_triggers_nobody_needs_no_look_at_the_chain() -> None:
    store = await answering(3)
    assert await chain_refusals(store, make_breadcrumb("Hello.", 4), consumers(1)) == {}
    assert await chain_refusals(store, make_breadcrumb("Go on.", 4, answers="m3"), ()) == {}
    assert store.limits == []


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
