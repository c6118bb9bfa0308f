"""A history in memory is extended by what the store has learned since, one reader at a time, and so many are kept."""

import asyncio
from datetime import timedelta

from typing_extensions import override

from builder.domain.breadcrumb import ORIGIN, Breadcrumb, Place
from builder.domain.recall import Recall, RecallQuery, Scope
from builder.domain.stored import StoredBreadcrumb
from builder.ports.models import NO_MODEL
from builder.recall.histories import SCOPE_PASSAGES, HistoryCache, HistoryReader
from builder.recall.index.history import History
from builder.recall.index.view import View
from tests.factories import FAR, MODEL, MORNING, bare, latest_of, make_place, make_remembered
from tests.stores import DurableStore

SCOPE = Scope(workspace="acme", sessions=("s42",))


class CountingStore(DurableStore):
    """Notes each recall's place, the bytes of terms and vectors, and the number of rows whose vectors are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.recalls: list[Place] = []
        self.vector_rows: list[int] = []
        self.search_bytes = 0

    @override
    async def recall(self, query: RecallQuery) -> Recall:
        self.recalls.append(query.after)
        await asyncio.sleep(0)
        recall = await super().recall(query)
        self.search_bytes += sum(len(each.terms) + len(each.vector) for row in recall.rows for each in row.passages)
        return recall

    @override
    async def vectors(self, breadcrumbs: tuple[Breadcrumb, ...], model: str) -> tuple[tuple[bytes, ...], ...]:
        self.vector_rows.append(len(breadcrumbs))
        return await super().vectors(breadcrumbs, model)


async def store_of(*texts: str) -> CountingStore:
    store = CountingStore()
    for number, text in enumerate(texts, 1):
        await store.remember(make_remembered(text, number))
    return store


def reader_of(store: CountingStore, model: str = MODEL, page_rows: int = 2) -> HistoryReader:
    return HistoryReader(store=store, cache=HistoryCache(1000), model=model, page_rows=page_rows)


async def view(reader: HistoryReader, until: Place = FAR) -> View:
    return (await reader.read("s42", until, SCOPE, ()))[1]


async def test_a_long_session_is_read_in_pages_and_later_only_what_is_new() -> None:
    store = await store_of("One.", "Two.", "Three.")
    reader = reader_of(store)
    assert (await view(reader)).size == 3
    assert store.recalls == [ORIGIN, make_place(2)]
    await store.remember(make_remembered("Four.", 4))
    assert (await view(reader)).size == 4
    assert store.recalls[2:] == [make_place(3)]


async def test_the_history_ends_before_the_place_also_when_more_was_read_for_another_trigger() -> None:
    reader = reader_of(await store_of("One.", "Two.", "Three."))
    assert (await view(reader, make_place(2))).size == 1
    assert (await view(reader)).size == 3
    assert (await view(reader, make_place(3))).size == 2


async def test_what_is_pinned_is_read_as_of_the_place_beside_the_rows() -> None:
    store = await store_of("One.")
    for number in (2, 3):
        await store.remember(make_remembered(f"Note {number}.", number, schema="note.v1", session="_"))
    kinds = (latest_of("note.v1"),)
    rows_read = [(await reader_of(store).read("s42", until, SCOPE, kinds))[0] for until in (make_place(2), FAR)]
    assert [[row.breadcrumb.id for row in rows] for (rows,) in rows_read] == [["m2"], ["m3"]]


async def test_after_an_erasure_the_history_is_read_from_its_beginning() -> None:
    store = await store_of("One.", "Two.", "Three.")
    reader = reader_of(store)
    await view(reader)
    await store.erase("acme", "s42", "m2", FAR)
    reread = await view(reader)
    assert [reread.breadcrumb(row).id for row in range(reread.size)] == ["m1", "m3"]
    assert store.recalls[2:] == [make_place(3), ORIGIN, make_place(3)]


async def test_a_history_whose_reading_was_given_up_is_read_from_its_beginning() -> None:
    store = await store_of("One.", "Two.")
    reader = reader_of(store)
    history = reader.cache.get(SCOPE)
    history.is_whole = False
    assert (await view(reader)).size == 2
    assert reader.cache.get(SCOPE) is not history


async def test_vectors_that_came_since_are_written_into_the_history() -> None:
    store, whole = CountingStore(), make_remembered("The kiln is hot.", 1)
    await store.remember(bare(whole))
    reader = reader_of(store)
    assert (await view(reader)).lacks_vectors
    await store.fill_vectors(whole)
    assert not (await view(reader)).lacks_vectors
    assert not (await view(reader)).lacks_vectors
    assert store.vector_rows == [1, 1]


async def test_without_a_model_no_vectors_are_asked_for() -> None:
    store = CountingStore()
    await store.remember(bare(make_remembered("The kiln is hot.", 1)))
    assert (await view(reader_of(store, NO_MODEL))).lacks_vectors
    assert store.vector_rows == []


async def test_two_readings_of_a_scope_at_once_append_each_row_once() -> None:
    store = await store_of("One.", "Two.", "Three.", "Four.", "Five.")
    reader = reader_of(store)
    assert [each.size for each in await asyncio.gather(view(reader), view(reader))] == [5, 5]
    assert len(reader.cache.get(SCOPE).rows) == 5


async def test_where_nothing_is_searched_neither_terms_nor_vectors_are_read() -> None:
    store = await store_of(*(f"The kiln number {n} is hot." for n in range(9)))
    reader = reader_of(store)
    for _ in range(2):
        _, unsearched = await reader.read("s42", FAR, SCOPE, (), searched=False)
        await store.remember(make_remembered("And the last one.", 20))
    assert (store.search_bytes, store.vector_rows) == (0, [])
    assert unsearched.size == 10
    assert not unsearched.lacks_vectors


async def test_the_first_search_reads_the_history_with_its_terms_and_vectors_and_the_next_reading_keeps_them() -> None:
    store = await store_of("One kiln.", "Two kilns.", "Three kilns.")
    reader = reader_of(store)
    await reader.read("s42", FAR, SCOPE, (), searched=False)
    searched = await view(reader)
    assert searched.prefix.has_vector.all()
    assert len(searched.prefix.occurrences("kiln").passages) == 3
    assert store.recalls.count(ORIGIN) == 2
    await store.remember(make_remembered("Four kilns.", 4))
    _, later = await reader.read("s42", FAR, SCOPE, (), searched=False)
    assert later.prefix.has_vector.all()
    assert store.recalls.count(ORIGIN) == 2


def grow(cache: HistoryCache, history: History, rows: tuple[StoredBreadcrumb, ...]) -> History:
    for _ in cache.extend(history, rows):
        pass
    return history


def scope(session: str, workspace: str = "acme") -> Scope:
    return Scope(workspace=workspace, sessions=(session,))


def test_a_session_is_kept_and_grows_by_its_new_rows() -> None:
    histories = HistoryCache(100)
    rows = tuple(make_remembered(f"Message {n}.", n) for n in range(1, 6))
    grow(histories, histories.get(scope("s1")), rows[:3])
    grown = grow(histories, histories.get(scope("s1")), rows)
    assert [row.breadcrumb.id for row in grown.rows] == ["m1", "m2", "m3", "m4", "m5"]
    assert histories.get(scope("s1", "rival")).rows == histories.get(scope("s2")).rows == []


def test_the_sessions_unused_for_longest_are_forgotten() -> None:
    histories = HistoryCache(2 * (4 + SCOPE_PASSAGES))
    for session in ("a", "b", "a", "c"):
        history = histories.get(scope(session))
        grow(histories, history, tuple(make_remembered(f"Message {n}.", n) for n in range(1, 5)))
    assert [histories.get(scope(session)).cost for session in ("a", "c", "b")] == [4, 4, 0]


def test_a_workspace_is_let_go_of_and_no_other() -> None:
    histories = HistoryCache(1000)
    for held in (scope("a"), scope("b"), scope("a", "rival")):
        grow(histories, histories.get(held), (make_remembered("The kiln is hot."),))
    assert histories.drop("acme") == 2
    assert [histories.get(held).cost for held in (scope("a"), scope("b"), scope("a", "rival"))] == [0, 0, 1]


def test_the_session_in_use_is_kept_whatever_its_size() -> None:
    histories = HistoryCache(2)
    grow(histories, histories.get(scope("big")), tuple(make_remembered(f"Message {n}.", n) for n in range(1, 50)))
    assert histories.get(scope("big")).cost == 49
    grow(histories, histories.get(scope("small")), (make_remembered(),))
    assert histories.get(scope("big")).cost == 0


def test_a_history_that_was_read_before_something_was_erased_takes_no_later_rows() -> None:
    histories = HistoryCache(100)
    history = histories.get(scope("s1"))
    assert histories.accepts(history, 3)
    grow(histories, history, (make_remembered(),))
    assert histories.accepts(history, 3)
    assert not histories.accepts(history, 4)
    fresh = histories.reset(scope("s1"))
    assert histories.accepts(fresh, 4)
    assert histories.get(scope("s1")) is fresh
    assert fresh.place == ORIGIN


def test_a_history_whose_growing_ended_in_the_middle_takes_no_later_rows() -> None:
    histories = HistoryCache(1000)
    history = histories.get(scope("s1"))
    growing = histories.extend(history, tuple(make_remembered(f"Message {n}.", n) for n in range(1, 50)))
    assert histories.accepts(history, 0)
    next(growing)
    del growing
    assert not histories.accepts(history, 0)
    fresh = histories.reset(scope("s1"))
    assert histories.accepts(fresh, 0)
    assert grow(histories, fresh, (make_remembered(),)).is_whole


def replayed(text: str, sequence: int, minutes: int) -> StoredBreadcrumb:
    moment = MORNING + timedelta(minutes=minutes)
    return make_remembered(text, sequence, replay=True, created_at=moment, received_at=MORNING + timedelta(days=1))


def texts(view: View) -> list[str]:
    return [view.breadcrumb(row).text for row in view.rows.tolist()]


async def test_what_is_imported_later_and_was_said_earlier_stands_before_and_an_earlier_place_does_not_see_it() -> None:
    store = CountingStore()
    for row in (replayed("Five.", 1, 50), replayed("Six.", 2, 60)):
        await store.remember(row)
    reader = reader_of(store)
    assert texts(await view(reader)) == ["Five.", "Six."]
    for row in (
        replayed("One.", 3, 10),
        replayed("Two.", 4, 20),
        make_remembered("Now.", 5, received_at=MORNING + timedelta(days=2)),
    ):
        await store.remember(row)
    assert texts(await view(reader)) == ["One.", "Two.", "Five.", "Six.", "Now."]
    assert texts(await view(reader, make_place(3))) == ["Five.", "Six."]
    assert texts(await view(reader, make_place(4))) == ["One.", "Five.", "Six."]
    reads = len(store.recalls)
    assert texts(await view(reader)) == ["One.", "Two.", "Five.", "Six.", "Now."]
    assert store.recalls[reads:] == [make_place(5)], "the history of the newest place was not lost"
