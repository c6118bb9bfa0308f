"""The contract of `BreadcrumbStore` and `Progress`: one suite over every store."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from builder.domain.breadcrumb import ORIGIN, Place
from builder.domain.errors import Unavailable
from builder.domain.recall import RecallQuery, Scope
from builder.domain.selector import Pinned
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import CompleteStore as Store
from tests.factories import (
    MODEL,
    latest_of,
    make_breadcrumb,
    make_catalog,
    make_place,
    make_remembered,
    make_tombstone,
    remembered_of,
)

CATALOG = "tool.catalog.v1"


def query(after: int = 0, until: int = 1000, pinned: tuple[str | Pinned, ...] = (), **asked: Any) -> RecallQuery:
    session = asked.get("session", "s42")
    scope = Scope(workspace=asked.get("workspace", "acme"), sessions=(session,), shared=asked.get("shared", ()))
    places: dict[str, Any] = {"after": make_place(after), "until": make_place(until)}
    kinds = tuple(latest_of(kind) if isinstance(kind, str) else kind for kind in pinned)
    return RecallQuery(scope=scope, session=session, limit=asked.get("limit", 99), pinned=kinds, model=MODEL, **places)


async def remember_all(store: Store, *rows: StoredBreadcrumb) -> None:
    for row in rows:
        assert await store.remember(row)


async def pinned_ids(store: Store, until: int, *schemas: str) -> list[str]:
    recall = await store.recall(query(until=until, pinned=schemas or (CATALOG,)))
    return [row.breadcrumb.id for rows in recall.pinned for row in rows]


async def test_what_was_remembered_is_recalled_unchanged(store: Store) -> None:
    row = make_remembered(
        "I moved to Lisbon. " * 60,
        tags=("pinned", "ü,\"'"),
        calls=("r1", "r2"),
        body='{"content":"…"}',
        speaker="Zoë",
        hints='{"include":["ü"]}',
        creator="agent-7",
        agent="köchin",
    )
    assert len(row.passages) > 1
    await remember_all(store, row)
    assert (await store.recall(query())).rows == (row,)
    assert await store.facts(row.breadcrumb) == row


@pytest.mark.parametrize("offset", [None, 0, 345, -1439])
async def test_the_sender_s_clock_and_who_the_person_is_are_kept(store: Store, offset: int | None) -> None:
    row = make_remembered(utc_offset=offset, user_id="auth0|ü 7")
    await remember_all(store, row)
    assert (await store.recall(query())).rows == (row,)
    assert await store.facts(row.breadcrumb) == row


async def test_of_many_writers_at_once_exactly_one_wins(store: Store) -> None:
    answers = await asyncio.gather(*(store.remember(make_remembered("Text.", n, id="m")) for n in range(1, 21)))
    assert sum(answers) == await store.count() == 1


async def test_a_place_that_another_breadcrumb_holds_is_an_error_and_no_silent_loss(store: Store) -> None:
    await remember_all(store, make_remembered("One.", 7, id="a"))
    with pytest.raises(Unavailable):
        await store.remember(make_remembered("Two.", 7, id="b"))
    assert await store.count() == 1


async def test_the_same_id_in_two_workspaces_is_two_breadcrumbs(store: Store) -> None:
    ours, theirs = make_remembered("Ours.", id="m"), make_remembered("Theirs.", id="m", workspace="rival")
    await remember_all(store, ours, theirs)
    assert (await store.recall(query())).rows == (ours,)
    assert (await store.recall(query(workspace="rival"))).rows == (theirs,)
    assert await store.facts(theirs.breadcrumb) == theirs


async def test_nothing_is_known_of_what_was_never_remembered(store: Store) -> None:
    await remember_all(store, make_remembered(id="m"))
    assert await store.facts(make_breadcrumb(id="other")) is None
    assert await store.facts(make_breadcrumb(id="m", version=2)) is None
    assert await store.facts(make_breadcrumb(id="m", workspace="rival")) is None
    assert (await store.recall(query(session="nobody", pinned=(CATALOG,)))).rows == ()


async def test_recall_starts_after_one_place_and_ends_with_the_other(store: Store) -> None:
    rows = [make_remembered(f"Message {n}.", n) for n in range(1, 7)]
    await remember_all(store, *rows)
    assert (await store.recall(query(after=2, until=5))).rows == tuple(rows[2:5])
    assert (await store.recall(query(after=2, until=5, limit=2))).rows == tuple(rows[2:4])
    assert (await store.recall(query(after=5, until=5))).rows == ()
    assert (await store.recall(query(after=6, until=2))).rows == ()


async def test_recall_is_in_place_order_whatever_the_order_of_arrival(store: Store) -> None:
    rows = [make_remembered(f"Message {n}.", n) for n in range(1, 12)]
    await remember_all(store, *rows[::2], *rows[1::2])
    assert (await store.recall(query())).rows == tuple(rows)


async def test_a_recreated_stream_comes_after_the_old_one(store: Store) -> None:
    places = [Place(1, 2), Place(1, 10), Place(2, 1), Place(2, 9), Place(10, 3)]
    rows = [make_remembered(f"Message {n}.", id=f"m{n}", place=place) for n, place in enumerate(places)]
    await remember_all(store, *reversed(rows))
    everything = replace(query(), after=ORIGIN, until=Place(99, 0))
    assert (await store.recall(everything)).rows == tuple(rows)
    span = replace(everything, after=Place(1, 10), until=Place(2, 9))
    assert (await store.recall(span)).rows == tuple(rows[2:4])


async def test_recall_never_crosses_sessions_or_workspaces(store: Store) -> None:
    homes = [("acme", "s42"), ("acme", "s4"), ("acme", "S42"), ("acme", "_"), ("acm", "s42"), ("ACME", "s42"), ("acme%", "s42")]
    rows = [make_remembered(f"Message {n}.", n, workspace=w, session=s) for n, (w, s) in enumerate(homes, 1)]
    await remember_all(store, *rows)
    for (workspace, session), row in zip(homes, rows, strict=True):
        assert (await store.recall(query(workspace=workspace, session=session))).rows == (row,)


async def test_what_a_scope_shares_comes_from_no_session_and_from_no_other(store: Store) -> None:
    note = "note.v1"
    rows = [
        make_remembered("A note of all.", 1, session="_", schema=note),
        make_remembered("A note of theirs.", 2, session="other", schema=note),
        make_remembered("A message of nobody.", 3, session="_"),
        make_remembered("A message of mine.", 4),
        make_remembered("A note of another workspace.", 5, session="_", schema=note, workspace="rival"),
        make_remembered("The note again.", 6, session="_", schema=note, id="m1", version=2),
        make_catalog(2, 7),
    ]
    await remember_all(store, *rows)
    assert (await store.recall(query(shared=(note,)))).rows == (rows[0], rows[3], rows[5])
    assert (await store.recall(query(shared=(note,), after=1, limit=1))).rows == (rows[3],)
    assert (await store.recall(query())).rows == (rows[3],)


async def test_a_shared_note_that_turned_into_something_else_is_shared_as_that(store: Store) -> None:
    rows = [
        make_remembered("A note of all.", 1, session="_", schema="note.v1"),
        make_remembered("", 2, session="_", schema="secret.v1", id="m1", version=2),
        make_tombstone("m1", 3, session="_"),
    ]
    await store.remember_all(tuple(rows))
    assert (await store.recall(query(shared=("note.v1",)))).rows == tuple(rows)


async def test_what_a_scope_shares_is_the_same_whatever_comes_later(store: Store) -> None:
    """Of an earlier release: a message that turns into a note was a message; a note behind a higher version never was one."""
    message, edited = make_remembered("Mine.", 1, session="_"), make_remembered("Mine too.", 2, session="_", id="m1", version=2)
    note = make_remembered("A note.", 3, session="_", schema="note.v1", id="m1", version=3)
    secret = make_remembered("", 4, session="_", schema="secret.v1", id="n", version=2)
    late = make_remembered("An old note.", 5, session="_", schema="note.v1", id="n")
    await remember_all(store, message, edited)
    assert (await store.recall(query(until=2, shared=("note.v1",)))).rows == ()
    await store.remember_all((note, secret, late))
    assert (await store.recall(query(until=2, shared=("note.v1",)))).rows == ()
    assert (await store.recall(query(shared=("note.v1",)))).rows == (note,)


async def test_what_stands_may_come_from_the_session_or_from_no_session(store: Store) -> None:
    await remember_all(store, make_catalog(2, 1), make_catalog(2, 5, session="s42"), make_catalog(2, 7, session="other"))
    assert await pinned_ids(store, 4) == ["m1"]
    assert await pinned_ids(store, 9) == ["m5"]


async def test_the_newest_of_its_kind_stands_as_of_the_asked_place(store: Store) -> None:
    await remember_all(store, make_catalog(2, 9), make_catalog(2, 3), make_catalog(2, 6), make_catalog(2, 7, workspace="rival"))
    assert [await pinned_ids(store, until) for until in (2, 3, 5, 6, 8, 9)] == [[], ["m3"], ["m3"], ["m6"], ["m6"], ["m9"]]


async def test_pinned_breadcrumbs_come_in_the_order_asked_without_gaps(store: Store) -> None:
    await remember_all(store, make_remembered("A note.", 1, schema="note.v1"), make_catalog(2, 2))
    assert await pinned_ids(store, 5, CATALOG, "agent.def.v1", "note.v1") == ["m2", "m1"]


async def test_of_a_kind_so_many_of_the_newest_are_found_as_the_profile_keeps(store: Store) -> None:
    rows = (make_catalog(2, n, session=("_", "s42", "other")[n % 3]) for n in range(1, 9))
    await remember_all(store, *rows, make_tombstone("m7", 9))
    found = (await store.recall(query(pinned=tuple(replace(latest_of(CATALOG), keep=keep) for keep in (3, 99))))).pinned
    assert [[row.breadcrumb.id for row in held] for held in found] == [["m6", "m4", "m3"], ["m6", "m4", "m3", "m1"]]


async def test_what_stands_is_found_however_little_of_the_session_is_asked_for(store: Store) -> None:
    row = make_catalog(2, 1)
    await remember_all(store, row, make_remembered(sequence=2))
    assert (await store.recall(query(after=5, until=9, pinned=(CATALOG,)))).pinned == ((row,),)


async def test_a_tombstone_removes_what_stands_from_its_own_place_on(store: Store) -> None:
    await remember_all(store, make_catalog(2, 1), make_catalog(2, 3), make_tombstone("m3", 5, session="_"))
    assert [await pinned_ids(store, until) for until in (4, 5, 9)] == [["m3"], ["m1"], ["m1"]]


async def test_what_is_sent_again_after_its_tombstone_stands_no_more(store: Store) -> None:
    await remember_all(store, make_catalog(2, 1, id="tools"), make_tombstone("tools", 3, session="_"))
    assert not await store.remember(make_catalog(3, 5, id="tools", version=2))
    assert [await pinned_ids(store, until) for until in (2, 4, 6)] == [["tools"], [], []]


async def test_a_tombstone_of_another_workspace_removes_nothing(store: Store) -> None:
    await remember_all(store, make_catalog(2, 1), make_tombstone("m1", 2, workspace="rival"))
    assert await pinned_ids(store, 9) == ["m1"]


async def test_vectors_of_another_model_come_back_empty_and_the_words_stay(store: Store) -> None:
    said, catalog = make_breadcrumb("I moved to Lisbon."), make_catalog(2, 2).breadcrumb
    await remember_all(store, remembered_of(said, "old/fp32/1"), remembered_of(catalog, "old/fp32/1"))
    await remember_all(store, make_remembered("I like it here.", 3))
    recall = await store.recall(query(pinned=(CATALOG,)))
    old, new = recall.rows
    assert [held.vector for row in (old, *recall.pinned[0]) for held in row.passages] == [b"", b""]
    assert old.passages[0].terms == "move lisbon"
    assert new.passages[0].vector
    assert (await store.recall(replace(query(), model="old/fp32/1"))).rows[0].passages[0].vector


async def test_every_session_has_its_own_watermark(store: Store) -> None:
    await store.advance("acme", "s42", Place(1, 5))
    await store.advance("acme", "_", Place(1, 3))
    await store.advance("rival", "s42", Place(1, 9))
    marks = [await store.watermark(*home) for home in (("acme", "s42"), ("acme", "_"), ("rival", "s42"), ("rival", "_"))]
    assert marks == [Place(1, 5), Place(1, 3), Place(1, 9), ORIGIN]


async def test_attempts_are_counted_before_they_are_made(store: Store) -> None:
    assert [await store.start_attempt(Place(1, 7)) for _ in range(3)] == [1, 2, 3]
    assert await store.start_attempt(Place(1, 8)) == await store.start_attempt(Place(2, 7)) == 1


async def test_an_attempt_that_failed_through_somebody_else_is_taken_back(store: Store) -> None:
    await store.start_attempt(Place(1, 7))
    for _ in range(10):
        assert await store.start_attempt(Place(1, 7)) == 2
        await store.undo_attempt(Place(1, 7))
    for _ in range(3):
        await store.undo_attempt(Place(1, 7))
    assert await store.start_attempt(Place(1, 7)) == 1
    await store.undo_attempt(Place(1, 99))
    assert await store.start_attempt(Place(1, 99)) == 1


async def test_a_settled_delivery_starts_at_one_again(store: Store) -> None:
    await store.start_attempt(Place(1, 7))
    await store.clear_attempts(Place(1, 7))
    await store.clear_attempts(Place(1, 7))
    assert await store.start_attempt(Place(1, 7)) == 1
