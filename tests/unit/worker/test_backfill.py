"""Later filling: oldest first, nobody waits for a text that fails, and what fails is tried again."""

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest
from typing_extensions import override

from builder.domain.errors import Unavailable
from builder.domain.stored import StoredBreadcrumb
from builder.remember.memory import Ingest, Pause, no_pause
from builder.worker.backfill import PAGE_ROWS, Backfill
from builder.worker.jobs import Pace, Pauses
from builder.worker.log import StoredLog
from tests.factories import bare, make_remembered, remembered_of
from tests.ports import BusyLog
from tests.stores import DurableStore, durable_store

PACE = Pace(rest=0.001, pauses=Pauses(0.001, 0.001))
"""Pauses that a test can wait for."""


class Engine(Ingest):
    """Gives vectors, except where `fails` says why not. asked: ids in the order asked."""

    def __init__(self, fails: Callable[[str], Exception | None] = lambda _text: None) -> None:
        self.asked: list[str] = []
        self.fails = fails

    @override
    async def with_vectors(self, remembered: StoredBreadcrumb, pause: Pause = no_pause) -> StoredBreadcrumb:
        await pause()
        self.asked.append(remembered.breadcrumb.id)
        error = self.fails(remembered.breadcrumb.text)
        if error:
            raise error
        return remembered_of(remembered.breadcrumb)


async def holding(store: DurableStore, *texts: str) -> list[StoredBreadcrumb]:
    """The texts, remembered from the last to the first without vectors."""
    rows = [make_remembered(text, n) for n, text in enumerate(texts, 1)]
    for row in reversed(rows):
        await store.remember(bare(row))
    return rows


async def missing_vectors(store: DurableStore) -> list[str]:
    return [row.breadcrumb.text for row in await store.missing_vectors(1000)]


async def test_what_lacks_vectors_gets_them_the_oldest_first() -> None:
    store, engine = durable_store(), Engine()
    rows = await holding(store, *(f"Message {n}." for n in range(3 * PAGE_ROWS + 1)))
    walk = Backfill(StoredLog(store), engine, PACE)
    await walk.walk()
    assert engine.asked == [row.breadcrumb.id for row in rows]
    assert [await store.facts(row.breadcrumb) for row in rows] == rows
    assert walk.missing == 0


@pytest.mark.parametrize("error", [Unavailable("the engine is away"), RuntimeError("a bug")], ids=["unavailable", "bug"])
async def test_texts_that_keep_failing_block_nobody_and_are_tried_again(error: Exception) -> None:
    store, engine = durable_store(), Engine(lambda text: error if "beetle" in text else None)
    await holding(store, *(f"Here is beetle {n}." for n in range(PAGE_ROWS + 3)), "The kiln is hot.")
    walk = Backfill(StoredLog(store), engine, PACE)
    await walk.walk()
    assert await missing_vectors(store) == [f"Here is beetle {n}." for n in range(PAGE_ROWS + 3)]
    assert walk.missing == PAGE_ROWS + 3
    engine.fails = lambda _text: None
    await walk.walk()
    assert await missing_vectors(store) == []


async def test_the_count_is_true_while_everything_fails() -> None:
    store, counts = durable_store(), list[int]()

    class Failing(Engine):
        @override
        async def with_vectors(self, remembered: StoredBreadcrumb, pause: Pause = no_pause) -> StoredBreadcrumb:
            counts.append(walk.missing)
            if len(counts) < 4:
                await store.remember(bare(make_remembered("One more.", 10 + len(counts))))
            raise Unavailable("the engine is away")

    walk = Backfill(StoredLog(store), Failing(), PACE)
    await holding(store, "One.", "Two.")
    await walk.walk()
    assert counts == [2, 3, 4, 5, 5]


async def test_the_beginning_and_the_end_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    store, engine = durable_store(), Engine()
    walk = Backfill(StoredLog(store), engine, PACE)
    await walk.walk()
    assert caplog.messages == []
    engine.fails = lambda _text: Unavailable("the engine is away")
    await holding(store, "One.", "Two.")
    for _ in range(3):
        await walk.walk()
    engine.fails = lambda _text: None
    for _ in range(3):
        await walk.walk()
    assert caplog.messages == [
        "2 breadcrumbs lack vectors, which are filled in as soon as the engine gives them",
        "no breadcrumb lacks vectors any more",
    ]


async def test_what_is_in_work_comes_first_and_under_steady_load_vectors_come_all_the_same() -> None:
    store, engine, looks = durable_store(), Engine(), list[int]()

    def busy() -> bool:
        looks.append(len(engine.asked))
        return True

    rows = await holding(store, "One.", "Two.")
    log = BusyLog(store)
    log.is_busy = busy
    await Backfill(log, engine, replace(PACE, wait=0)).walk()
    assert looks == [0] * (PACE.max_waits + 1) + [1] * (PACE.max_waits + 1)
    assert [await store.facts(row.breadcrumb) for row in rows] == rows


async def test_what_another_worker_filled_in_meanwhile_stays_as_it_is() -> None:
    store = durable_store()
    (row,) = await holding(store, "The kiln is hot.")
    theirs = replace(row, model="theirs/int8/1")

    class Late(Engine):
        @override
        async def with_vectors(self, remembered: StoredBreadcrumb, pause: Pause = no_pause) -> StoredBreadcrumb:
            await store.fill_vectors(theirs)
            return await super().with_vectors(remembered, pause)

    await Backfill(StoredLog(store), Late(), PACE).walk()
    assert await store.facts(row.breadcrumb) == theirs
