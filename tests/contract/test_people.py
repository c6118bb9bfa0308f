"""The contract of a person's scope: one suite over every store."""

from builder.domain.recall import RecallQuery, Scope
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import CompleteStore as Store
from tests.contract.test_store import remember_all
from tests.factories import FAR, MODEL, make_place, make_remembered


def ada(sequence: int, session: str, **changes: object) -> StoredBreadcrumb:
    return make_remembered(f"Ada says {sequence}.", sequence, session=session, user_id="ada", **changes)


def bob(sequence: int, session: str, **changes: object) -> StoredBreadcrumb:
    return make_remembered(f"Bob says {sequence}.", sequence, session=session, user_id="bob", **changes)


def answer(sequence: int, session: str, **changes: object) -> StoredBreadcrumb:
    return make_remembered(f"An answer, {sequence}.", sequence, schema="agent.response.v1", session=session, **changes)


def query(*sessions: str, user: str = "ada", after: int = 0, until: int = 0, limit: int = 99) -> RecallQuery:
    return RecallQuery(
        scope=Scope(workspace="acme", sessions=sessions, user=user),
        session="now",
        after=make_place(after),
        until=make_place(until) if until else FAR,
        limit=limit,
        pinned=(),
        model=MODEL,
    )


async def memory(store: Store, *sessions: str, user: str = "ada", after: int = 0, until: int = 0, limit: int = 99) -> list[str]:
    """Ids of the rows of a person's scope."""
    recall = await store.recall(query(*sessions, user=user, after=after, until=until, limit=limit))
    return [row.breadcrumb.id for row in recall.rows]


async def test_a_memory_has_all_of_a_session_that_its_person_began_and_of_any_other_what_follows_the_first_words(
    store: Store,
) -> None:
    await remember_all(
        store,
        answer(1, "mon"),
        ada(2, "mon"),
        answer(3, "mon"),
        bob(4, "tue"),
        ada(5, "wed"),
        bob(6, "tue"),
        ada(7, "tue"),
        bob(8, "tue"),
    )
    assert await memory(store) == ["m1", "m2", "m3", "m5", "m7", "m8"]
    assert await memory(store, user="bob") == ["m4", "m6", "m7", "m8"]
    assert await memory(store, user="carl") == []


async def test_a_named_session_belongs_to_the_scope_from_its_beginning(store: Store) -> None:
    await remember_all(store, answer(1, "mon"), bob(2, "mon"), ada(3, "mon"), ada(4, "tue"))
    assert await memory(store, "mon") == ["m1", "m2", "m3", "m4"]


async def test_reading_on_gives_what_one_reading_gives(store: Store) -> None:
    await remember_all(
        store, bob(1, "tue"), ada(2, "mon"), ada(3, "tue"), answer(4, "mon"), bob(5, "tue"), ada(6, "wed"), answer(7, "mon")
    )
    everything = await memory(store)
    for place in range(8):
        earlier = await memory(store, until=place) if place else []
        assert earlier + await memory(store, after=place) == everything
    assert await memory(store, limit=2) == everything[:2]


async def test_what_agents_said_before_the_first_words_comes_with_them(store: Store) -> None:
    await remember_all(store, ada(1, "mon"), answer(2, "tue"), ada(3, "mon"), answer(4, "tue"), ada(5, "tue"), ada(6, "mon"))
    before, after = await store.recall(query(until=4)), await store.recall(query(after=4))
    assert [row.breadcrumb.id for row in before.rows] == ["m1", "m3"]
    assert [(row.breadcrumb.id, row.order) for row in after.rows] == [
        ("m2", (make_place(5), 0)), ("m4", (make_place(5), 0)), ("m5", (make_place(5), 1)), ("m6", (make_place(6), 1)),
    ]  # fmt: skip
    assert before.revision == after.revision
    assert await memory(store, after=4, limit=1) == ["m2", "m4", "m5"]


async def test_the_triggers_own_session_belongs_to_the_memory_before_its_first_words_are_stored(store: Store) -> None:
    await remember_all(store, ada(1, "mon"), answer(2, "now"), answer(3, "now"))
    assert await memory(store, until=4) == ["m1", "m2", "m3"]
    await remember_all(store, ada(4, "now"))
    assert await memory(store, until=4) == ["m1", "m2", "m3", "m4"]
    assert await memory(store, user="bob", until=9) == []
    await remember_all(store, ada(5, "mon"))
    assert await memory(store, after=5, until=9) == []


async def test_what_an_erased_breadcrumb_may_have_brought_about_is_nobodys_memory(store: Store) -> None:
    await remember_all(store, bob(1, "mon"), answer(2, "mon"), ada(3, "mon"))
    await store.erase("acme", "mon", "m1", FAR)
    assert await memory(store) == ["m3"]


async def test_a_session_that_begins_in_private_belongs_to_nobodys_memory_but_to_its_own_pages(store: Store) -> None:
    await remember_all(store, answer(1, "mon", private=True), ada(2, "mon"), ada(3, "tue"), ada(4, "tue", private=True))
    assert await memory(store) == ["m3", "m4"]
    assert await memory(store, "mon") == ["m1", "m2", "m3", "m4"]


async def test_a_private_session_stays_private_when_its_beginning_is_erased(store: Store) -> None:
    await remember_all(store, ada(1, "mon", private=True), ada(2, "mon"), ada(3, "tue"))
    await store.erase("acme", "mon", "m1", FAR)
    assert await memory(store) == ["m3"]


async def test_an_erasure_that_takes_a_session_out_of_a_memory_revises_it(store: Store) -> None:
    await remember_all(store, ada(1, "mon"), answer(2, "mon"), ada(3, "tue"))
    before = await store.recall(query())
    await store.erase("acme", "mon", "m1", FAR)
    after = await store.recall(query())
    assert [row.breadcrumb.id for row in after.rows] == ["m3"]
    assert after.revision != before.revision


async def test_rows_of_a_memory_come_with_their_passages(store: Store) -> None:
    row = make_remembered("I moved to Lisbon. " * 60, 1, session="mon", user_id="ada")
    assert len(row.passages) > 1
    await remember_all(store, row)
    assert (await store.recall(query())).rows == (row,)


async def test_a_session_is_wholly_a_memory_when_nobody_else_spoke_first_and_it_is_not_private(store: Store) -> None:
    await remember_all(
        store, answer(1, "greeted"), ada(2, "greeted"), bob(3, "greeted"), bob(4, "bobs"), ada(5, "bobs"),
        answer(6, "secret", private=True), ada(7, "secret"), answer(8, "silent"),
    )  # fmt: skip
    sessions = ("greeted", "bobs", "secret", "silent", "unknown")
    belongs = [session for session in sessions if await store.is_memory("acme", session, "ada", FAR)]
    assert belongs == ["greeted", "silent", "unknown"]
    assert await store.is_memory("acme", "bobs", "ada", make_place(4))
    await store.erase("acme", "greeted", "m2", FAR)
    assert not await store.is_memory("acme", "greeted", "ada", FAR)


async def test_the_first_speaker_of_a_session_is_a_person_and_a_trace_counts_as_one(store: Store) -> None:
    note = {"schema": "note.v1", "role": "other"}
    await remember_all(
        store, answer(1, "greeted"), ada(2, "greeted"), bob(3, "greeted"), ada(4, "notes", **note), ada(5, "x", private=True)
    )
    names = ("greeted", "notes", "x", "unknown")
    assert [await store.first_speaker("acme", name, FAR) for name in names] == ["ada", None, "ada", None]
    assert await store.first_speaker("acme", "greeted", make_place(2)) is None
    await store.erase("acme", "greeted", "m2", FAR)
    assert await store.first_speaker("acme", "greeted", FAR) == ""


async def test_the_sessions_of_a_person_are_listed_with_private_ones(store: Store) -> None:
    await remember_all(store, ada(1, "b"), ada(2, "a", private=True), bob(3, "c"), ada(4, "_", schema="note.v1"))
    assert await store.sessions_of("acme", "ada") == ("_", "a", "b")
    assert await store.sessions_of("acme", "") == ()


async def test_sessions_are_listed_by_their_newest_breadcrumb_in_pages(store: Store) -> None:
    await remember_all(store, ada(1, "a"), bob(2, "b"), ada(3, "a"), ada(4, "c"), ada(5, "_", schema="note.v1"))
    newest = await store.latest("acme", FAR, 2)
    assert [(crumb.session, crumb.place.sequence) for crumb in newest] == [("c", 4), ("a", 3)]
    assert [crumb.session for crumb in await store.latest("acme", newest[-1].place, 2)] == ["b"]
    assert await store.latest("other", FAR, 2) == ()
    await store.erase("acme", "c", "m4", FAR)
    assert [crumb.session for crumb in await store.latest("acme", FAR, 9)] == ["a", "b"]
