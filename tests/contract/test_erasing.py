"""The contracts of `Reader`, `Eraser` and `PendingStubs`: one suite over every store."""

from datetime import timedelta

from builder.domain.breadcrumb import NO_SESSION, ORIGIN
from builder.domain.erasure import erased
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import CompleteStore as Store
from tests.contract.test_store import query, remember_all
from tests.factories import FAR, MORNING, bare, make_catalog, make_place, make_remembered, make_tombstone


def summary(sequence: int, *covers: str, body: str = "{}") -> StoredBreadcrumb:
    return make_remembered("They met.", sequence, schema="summary.v1", covers=covers, body=body)


async def recalled(store: Store, session: str = "s42") -> list[str]:
    return [row.breadcrumb.id for row in (await store.recall(query(session=session))).rows]


async def test_a_chain_is_followed_across_sessions_within_the_workspace(store: Store) -> None:
    await remember_all(
        store,
        make_remembered("Root.", 1),
        make_remembered("Answer.", 2, answers="m1", session="other"),
        make_remembered("Answer to it.", 3, answers="m2"),
        make_remembered("Theirs.", 4, id="m1", answers="theirs", workspace="rival"),
    )
    assert await store.chain("acme", "m3", FAR, 9) == ("m3", "m2", "m1")
    assert await store.chain("acme", "m3", FAR, 2) == ("m3", "m2")
    assert await store.chain("acme", "nobody", FAR, 9) == ("nobody",)


async def test_a_circle_ends_a_chain_and_the_first_version_decides_as_of_the_place(store: Store) -> None:
    await remember_all(
        store,
        make_remembered("One.", 1, answers="m2"),
        make_remembered("Two.", 2, answers="m1"),
        make_remembered("One, edited.", 3, id="m1", version=2, answers=""),
        make_remembered("Late.", 9, id="late", answers="m1"),
    )
    assert await store.chain("acme", "m2", FAR, 99) == ("m2", "m1")
    assert await store.chain("acme", "late", make_place(8), 99) == ("late",)


async def test_what_was_erased_still_says_what_it_answered(store: Store) -> None:
    await remember_all(store, make_remembered("One.", 1), make_remembered("Two.", 2, answers="m1"))
    await store.erase("acme", "s42", "m2", FAR)
    assert await store.chain("acme", "m2", FAR, 9) == ("m2", "m1")


async def test_versions_are_all_that_was_not_removed_since(store: Store) -> None:
    first, second = make_remembered("Old.", 1), make_remembered("New.", 3, id="m1", version=2)
    await store.remember_all((first, make_tombstone("m1", 2), second))  # of a release before ids were closed
    assert await store.versions("acme", "m1") == (second.breadcrumb,)
    await store.remember_all((make_tombstone("m1", 4, session="elsewhere"),))
    assert await store.versions("acme", "m1") == (second.breadcrumb,)
    await remember_all(store, make_tombstone("m1", 5, session=NO_SESSION))
    assert await store.versions("acme", "m1") == ()


async def test_a_page_is_told_from_either_end(store: Store) -> None:
    rows = [make_remembered(f"Remark {n}.", n) for n in range(1, 6)]
    await remember_all(store, *rows, make_tombstone("m2", 6), make_remembered("Edited.", 7, id="m3", version=2))
    for newest, expected in ((False, ["m1", "m4", "m5", "m3"]), (True, ["m3", "m5", "m4", "m1"])):
        page = await store.list_session("acme", "s42", (ORIGIN, FAR), 9, newest)
        assert [crumb.id for crumb in page] == expected
    assert [crumb.id for crumb in await store.list_session("acme", "s42", (make_place(1), make_place(5)), 9, False)] == ["m4"]
    assert await store.list_session("acme", "s42", (ORIGIN, FAR), 1, True) == ((await store.versions("acme", "m3"))[-1],)


async def test_erasing_takes_every_version_below_the_place_and_nothing_of_a_similar_id(store: Store) -> None:
    old = make_remembered("Old.", 1, id="m", tags=("pinned",), speaker="Ana", user_id="u7", utc_offset=120)
    new = make_remembered("New.", 2, id="m", version=2, user_id="u7")
    later, similar = make_remembered("Later.", 9, id="m", version=3, user_id="u7"), make_remembered("Similar.", 3, id="m1")
    theirs = make_remembered("Theirs.", 4, id="m", workspace="rival")
    await remember_all(store, old, new, later, similar, theirs)
    assert await store.erase("acme", "s42", "m", make_place(5)) == (old.breadcrumb, new.breadcrumb)
    assert await store.erase("acme", "s42", "m", make_place(5)) == ()
    traces = await store.traces("acme", "m")
    assert traces == (erased(old.breadcrumb), erased(new.breadcrumb))
    assert (traces[0].speaker, traces[0].user_id, traces[0].utc_offset) == ("", "", None)
    assert await recalled(store) == ["m1", "m"]
    assert await store.count() == 3
    held = await store.facts(old.breadcrumb)
    assert held == StoredBreadcrumb(breadcrumb=erased(old.breadcrumb), passages=(), model="", fingerprint=b"")
    assert (await store.facts(theirs.breadcrumb)) == theirs


async def test_what_was_erased_is_not_remembered_again(store: Store) -> None:
    row = make_remembered("Old.")
    await remember_all(store, row)
    await store.erase("acme", "s42", "m1", FAR)
    assert not await store.remember(row)
    assert await recalled(store) == []
    assert await store.places("acme", "s42", ORIGIN, FAR) == {make_place(1)}


async def test_a_session_erases_only_its_own_and_no_session_erases_everywhere(store: Store) -> None:
    rows = [make_remembered("Here.", 1, id="m"), make_remembered("There.", 2, id="m", version=2, session="other")]
    await store.remember_all(tuple(rows))
    assert await store.erase("acme", "other", "m", FAR) == (rows[1].breadcrumb,)
    assert await store.erase("acme", NO_SESSION, "m", FAR) == (rows[0].breadcrumb,)


async def test_summaries_that_name_it_go_too_wherever_they_name_it(store: Store) -> None:
    lines = '{"lines":[{"text":"They met.","ids":["m0","m1"]}]}'
    by_field, by_line, of_others = summary(5, "m1"), summary(6, body=lines), summary(7, "m11", body='{"text":"m1 and more"}')
    await remember_all(store, make_remembered("We met.", 1), by_field, by_line, of_others)
    taken = await store.erase("acme", "s42", "m1", make_place(4))
    assert [crumb.id for crumb in taken] == ["m1", "m5", "m6"]
    assert [crumb.id for crumb in await store.traces("acme", "m1")] == ["m1", "m5", "m6"]
    assert await recalled(store) == ["m7"]


async def test_later_summaries_of_the_chain_go_too_though_they_cite_others(store: Store) -> None:
    third, second = (summary(n, f"m{n - 4}", body=f'{{"previous":"m{n - 1}"}}') for n in (7, 6))
    other = summary(8, "m2", body='{"previous":""}')
    await remember_all(store, make_remembered("We met.", 1), summary(5, "m1"), third, second, other)
    taken = await store.erase("acme", "s42", "m1", make_place(4))
    assert [crumb.id for crumb in taken] == ["m1", "m5", "m6", "m7"]
    assert [crumb.id for crumb in await store.traces("acme", "m1")] == ["m1", "m5", "m6", "m7"]
    assert await recalled(store) == ["m8"]


async def test_erasing_raises_the_revision_of_its_sessions_and_takes_vectors_with_it(store: Store) -> None:
    await remember_all(store, make_remembered("One."), bare(make_remembered("Two.", 2)))
    before = (await store.recall(query())).revision
    await store.erase("acme", "s42", "m1", FAR)
    assert (await store.recall(query())).revision > before
    assert await store.count_missing_vectors() == 1
    await store.erase("acme", "s42", "m2", FAR)
    assert await store.count_missing_vectors() == 0
    assert await store.missing_vectors(9) == ()


async def test_a_tombstone_of_no_session_is_part_of_every_recall_and_a_note_of_none_is_not(store: Store) -> None:
    note = make_remembered("A note.", 2, session=NO_SESSION, schema="note.v1")
    stone = make_tombstone("m1", 3, session=NO_SESSION)
    await remember_all(store, make_remembered("One.", 1), note, stone, make_remembered("Four.", 4))
    recall = await store.recall(query())
    assert [row.breadcrumb.id for row in recall.rows] == ["m1", "m3", "m4"]
    assert recall.rows[1] == stone
    assert [row.breadcrumb.id for row in (await store.recall(query(limit=2))).rows] == ["m1", "m3"]
    assert [row.breadcrumb.id for row in (await store.recall(query(after=3))).rows] == ["m4"]


async def test_neither_a_secret_nor_a_tombstone_ever_stands(store: Store) -> None:
    await remember_all(store, make_remembered("", 1, schema="tool.catalog.v1", removes="m1"), make_catalog(1, 2, removes="m2"))
    assert (await store.recall(query(pinned=("tool.catalog.v1",)))).pinned == ((),)


async def test_what_has_ended_is_told_with_its_earlier_versions_and_purged_once(store: Store) -> None:
    hour = timedelta(hours=1)
    rows = [
        make_remembered("First.", 1, id="a"),
        make_remembered("Second.", 2, id="a", version=2, expires_at=MORNING + hour),
        make_remembered("Third.", 3, id="b", expires_at=MORNING + 2 * hour),
        make_remembered("Another's.", 4, id="a", version=3, session="other"),
    ]
    await store.remember_all(tuple(rows))
    assert await store.ended(MORNING) == ()
    ended = await store.ended(MORNING + hour)
    assert [item.breadcrumb for item in ended] == [row.breadcrumb for row in rows[:2]]
    assert all(item.size > len(item.breadcrumb.body) for item in ended)
    await store.purge(ended)
    assert await store.ended(MORNING + hour) == ()
    assert await recalled(store) == ["b"]
    assert await recalled(store, "other") == ["a"]


async def test_the_summaries_of_what_has_ended_end_with_it(store: Store) -> None:
    rows = [make_remembered("Short-lived.", 1, expires_at=MORNING), make_remembered("Lasting.", 2)]
    chain = [summary(3, "m1"), summary(4, "m2", body='{"previous":"m3"}')]
    await remember_all(store, *rows, *chain, summary(5, "m2"), summary(6, "m1", body='{"previous":"m2"}'))
    ended = await store.ended(MORNING)
    assert [item.breadcrumb.id for item in ended] == ["m1", "m3", "m4", "m6"]
    assert all(item.size > len(item.breadcrumb.body) for item in ended)
    await store.purge(ended)
    assert await store.ended(MORNING) == ()
    assert await recalled(store) == ["m2", "m5"]


async def test_a_stub_is_owed_until_it_is_paid(store: Store) -> None:
    for subject in ("b", "a", "b"):
        await store.add_stub(subject)
    assert await store.pending_stubs() == ("a", "b")
    await store.remove_stub("a")
    await store.remove_stub("a")
    assert await store.pending_stubs() == ("b",)
