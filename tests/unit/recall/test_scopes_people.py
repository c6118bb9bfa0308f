"""The person of a trigger, and what is remembered of a person."""

from typing import Any

import pytest

from builder.domain.recall import Scope
from builder.domain.stored import StoredBreadcrumb
from builder.recall.scopes import history_of, memory_of
from tests.conversations import answered, bash, replied
from tests.factories import FAR, make_breadcrumb, make_remembered, make_tombstone
from tests.stores import DurableStore, durable_store


async def store_of(*rows: StoredBreadcrumb) -> DurableStore:
    store = durable_store()
    for row in rows:
        await store.remember(row)
    return store


def spoken(sequence: int, user: str, **changes: Any) -> StoredBreadcrumb:
    return make_remembered(f"Words {sequence}.", sequence, user_id=user, **changes)


def reply(sequence: int, answers: str = "", **changes: Any) -> StoredBreadcrumb:
    return make_remembered(f"Reply {sequence}.", sequence, schema="agent.response.v1", answers=answers, **changes)


def scope(user: str, *sessions: str) -> Scope:
    return Scope(workspace="acme", sessions=sessions, user=user)


async def test_the_sessions_that_a_person_opened_share_one_scope() -> None:
    store = await store_of(spoken(1, "ada"), reply(2))
    assert await memory_of(store, make_breadcrumb(sequence=9, user_id="ada")) == scope("ada")
    assert await memory_of(store, make_breadcrumb(sequence=9, session="new", user_id="ada")) == scope("ada")
    greeted = await store_of(reply(1), spoken(2, "ada"), spoken(3, "bob"))
    assert await memory_of(greeted, make_breadcrumb(sequence=9, user_id="ada")) == scope("ada")


@pytest.mark.parametrize(
    "opening",
    [spoken(1, "bob"), spoken(1, ""), spoken(1, "ada", private=True)],
    ids=["other", "unknown", "private"],
)
async def test_a_session_that_is_not_wholly_the_persons_memory_has_a_scope_of_its_own(opening: StoredBreadcrumb) -> None:
    store = await store_of(opening, spoken(2, "ada"))
    assert await memory_of(store, make_breadcrumb(sequence=9, user_id="ada")) == scope("ada", "s42")


async def test_a_private_trigger_that_opens_its_session_has_a_scope_of_its_own() -> None:
    trigger = make_breadcrumb(sequence=9, user_id="ada", private=True)
    assert await memory_of(await store_of(), trigger) == scope("ada", "s42")


async def test_the_person_of_a_response_is_the_one_at_the_beginning_of_what_it_answers() -> None:
    store = await store_of(spoken(1, "ada"), reply(2, "m1"), spoken(3, "bob"))
    assert await memory_of(store, reply(9, "m2").breadcrumb) == scope("ada")
    assert await memory_of(store, reply(9).breadcrumb) is None
    assert await memory_of(store, reply(9, "unknown").breadcrumb) is None


async def test_the_person_of_a_tools_answer_is_the_last_who_spoke_however_many_results_came_since() -> None:
    calls = [bash(f"r{number}", "ls") for number in range(50)]
    results = [answered(10 + number, f"r{number}", "none") for number in range(50)]
    store = await store_of(spoken(1, "bob"), spoken(2, "ada"), replied(3, "I look.", *calls), *results[:-1])
    assert await memory_of(store, results[-1].breadcrumb) == scope("ada", "s42")
    silent = await store_of(replied(3, "I look.", *calls), *results[:-1])
    assert await memory_of(silent, results[-1].breadcrumb) is None


async def known(store: DurableStore, user: str) -> list[tuple[str, int]]:
    return [(crumb.id, crumb.version) for crumb in await history_of(store, "acme", user, FAR)]


async def test_what_is_known_of_a_person_comes_in_place_order_from_every_session_in_newest_versions() -> None:
    rows = (
        spoken(1, "ada"), spoken(2, "ada", session="diary", private=True), reply(3, "m1"), spoken(4, "bob"),
        spoken(5, "ada", id="m1", version=2), spoken(6, "ada", session="_", schema="note.v1"), reply(7, "m4"),
        reply(8, session="diary"),
    )  # fmt: skip
    store = await store_of(*rows, spoken(9, "ada"), make_tombstone("m9", 10))
    assert await known(store, "ada") == [("m2", 1), ("m3", 1), ("m1", 2), ("m6", 1), ("m8", 1)]
    assert await known(store, "nobody") == []


async def test_an_erased_breadcrumb_is_not_known() -> None:
    store = await store_of(spoken(1, "ada"), reply(2, "m1"), spoken(3, "ada"))
    await store.erase("acme", "s42", "m2", FAR)
    assert await known(store, "ada") == [("m1", 1), ("m3", 1)]
