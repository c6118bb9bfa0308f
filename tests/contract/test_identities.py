"""A breadcrumb keeps its identity in every store, in whatever order its versions come."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from builder.domain.errors import Rejected
from builder.domain.recall import Scope
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import CompleteStore as Store
from tests.contract.test_erasing import summary
from tests.contract.test_joins import query
from tests.factories import MORNING, make_answer, make_place, make_question, make_remembered, make_tombstone, remembered_of


def make_in(row: StoredBreadcrumb, workspace: str) -> StoredBreadcrumb:
    return replace(row, breadcrumb=replace(row.breadcrumb, workspace=workspace))


async def offer(store: Store, rows: tuple[StoredBreadcrumb, ...]) -> None:
    for row in rows:
        try:
            await store.remember(row)
        except Rejected:
            continue


async def test_whatever_comes_first_the_lowest_place_has_the_id(store: Store) -> None:
    first = make_remembered("Mine.", 1, id="m", version=2)
    rows = (
        first,
        make_remembered("Taken over.", 2, id="m", version=1, session="other"),
        make_remembered("Taken over.", 3, id="m", version=2, session="other"),
        make_remembered("Replaced.", 4, id="m", version=3, schema="agent.response.v1"),
    )
    for number, order in enumerate(permutations(rows)):
        await offer(store, tuple(make_in(row, f"w{number}") for row in order))
        assert await store.versions(f"w{number}", "m") == (make_in(first, f"w{number}").breadcrumb,)
        edit = make_in(make_remembered("Edited.", 5, id="m", version=3), f"w{number}")
        assert await store.remember(edit)


async def test_whatever_comes_first_the_lowest_place_has_the_version(store: Store) -> None:
    rows = [make_remembered(text, place, id="m", version=2 - (place == 1)) for place, text in enumerate("abc", 1)]
    for number, order in enumerate(permutations(rows)):
        await offer(store, tuple(make_in(row, f"w{number}") for row in order))
        assert [crumb.text for crumb in await store.versions(f"w{number}", "m")] == ["a", "b"]


async def test_whatever_comes_first_a_tombstone_closes_its_id(store: Store) -> None:
    rows = (
        make_remembered("Forgotten.", 1, id="m"),
        make_tombstone("m", 2),
        make_remembered("Again.", 3, id="m", version=2),
        make_remembered("Again.", 4, id="m", version=3, session="other"),
    )
    for number, order in enumerate(permutations(rows)):
        await offer(store, tuple(make_in(row, f"w{number}") for row in order))
        assert [crumb.text for crumb in await store.versions(f"w{number}", "m") if crumb.place > make_place(1)] == []


RIVALS: dict[str, dict[str, Any]] = {
    "of another session": {"session": "other"}, "of no session": {"session": "_"},
    "of another schema": {"schema": "agent.response.v1"},
    "of another person": {"user_id": "bob"},
}  # fmt: skip


@pytest.mark.parametrize("rival", RIVALS)
async def test_whatever_comes_first_a_secret_that_may_not_stand_behind_it_closes_nothing(store: Store, rival: str) -> None:
    first = make_remembered("Mine.", 1, id="m", schema="user.message.v1", role="user", user_id="maya")
    rows = (
        first,
        remembered_of(replace(first.breadcrumb, place=make_place(2), version=2, text="", removes="m", **RIVALS[rival])),
        remembered_of(replace(first.breadcrumb, place=make_place(3), version=3, text="Mine, edited.")),
    )
    for number, order in enumerate(permutations(rows)):
        await offer(store, tuple(make_in(row, f"w{number}") for row in order))
        await offer(store, (make_in(rows[-1], f"w{number}"),))  # the next walk of its session reads it again
        assert [crumb.place.sequence for crumb in await store.versions(f"w{number}", "m")] == [1, 3]


async def test_whatever_comes_first_a_secret_that_stands_first_has_the_id(store: Store) -> None:
    rows = (make_remembered("", 1, id="m", removes="m"), make_remembered("Taken.", 2, id="m", session="other"))
    for number, order in enumerate(permutations(rows)):
        await offer(store, tuple(make_in(row, f"w{number}") for row in order))
        first = (await store.identities(f"w{number}", ("m",)))["m"].first
        assert first
        assert first.place == make_place(1)


async def test_a_tombstone_of_another_session_is_refused_and_one_that_came_too_early_closes_nothing(store: Store) -> None:
    said = make_remembered("Mine.", 1, id="m")
    await store.remember(make_tombstone("m", 2, session="other"))
    assert await store.remember(said)
    with pytest.raises(Rejected, match="belongs to session 's42'"):
        await store.remember(make_tombstone("m", 3, session="other"))
    assert await store.remember(make_remembered("Edited.", 4, id="m", version=2))


async def test_a_summary_of_what_was_forgotten_meanwhile_is_not_stored(store: Store) -> None:
    await store.remember(make_remembered("Mine.", 1, id="m"))
    await store.remember(make_tombstone("m", 2))
    assert not await store.remember(summary(3, "m"))
    assert await store.remember(summary(4, "other"))


async def test_whatever_comes_first_a_deleted_tombstone_still_closes_its_id(store: Store) -> None:
    rows = (make_remembered("Forgotten.", 1, id="m"), make_tombstone("m", 2, id="t"), make_tombstone("t", 3))
    for number, order in enumerate(permutations(rows)):
        for row in order:
            await store.remember(make_in(row, f"w{number}"))
            if row.breadcrumb.removes:
                await store.erase(f"w{number}", "s42", row.breadcrumb.removes, row.breadcrumb.place)
        assert await store.versions(f"w{number}", "m") == ()
        assert not await store.remember(make_in(make_remembered("Again.", 4, id="m", version=2), f"w{number}"))


async def test_a_tombstone_that_ends_is_not_purged(store: Store) -> None:
    await store.remember(make_tombstone("m", 2, expires_at=MORNING))
    assert await store.ended(MORNING) == ()


async def test_whatever_comes_first_what_is_closed_leaves_a_trace(store: Store) -> None:
    rows = (make_remembered("Forgotten.", 1, id="m"), make_tombstone("m", 2), make_remembered("Again.", 3, id="m", version=2))
    for number, order in enumerate(permutations(rows)):
        for row in order:
            await store.remember(make_in(row, f"w{number}"))
        await store.erase(f"w{number}", "s42", "m", make_place(2))
        traces = await store.traces(f"w{number}", "m")
        assert [(trace.place.sequence, trace.text) for trace in traces] == [(1, ""), (3, "")]


async def test_whatever_comes_first_an_answer_does_not_join_who_asked_under_an_id_of_another(store: Store) -> None:
    rows = (
        make_remembered("Mine.", 1, id="m"),
        replace(asked := make_question(2, session="other"), breadcrumb=replace(asked.breadcrumb, id="m", version=2)),
        make_question(3),
        make_answer(4),
    )
    for number, order in enumerate(permutations(rows)):
        await offer(store, tuple(make_in(row, f"w{number}") for row in order))
        trigger = make_in(rows[-1], f"w{number}").breadcrumb
        assert await store.caller_session(trigger) == "s42"
        rows_of_s42 = (await store.recall(replace(query(), scope=Scope(workspace=f"w{number}", sessions=("s42",))))).rows
        assert [row.breadcrumb.place.sequence for row in rows_of_s42] == [1, 3, 4]
