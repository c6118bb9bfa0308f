"""The line itself: what it reads again, and how often."""

import asyncio
from dataclasses import replace

from builder.domain.recall import Recall, RecallQuery
from tests.factories import bare, make_place, make_remembered
from tests.property.test_as_of import build, make_builder
from tests.stores import DurableStore, durable_store


class Filled(DurableStore):
    """Something is filled in after every recall, as long as anything lacks vectors. after: where the recalls began."""

    def __init__(self) -> None:
        super().__init__()
        self.after: list[int] = []

    async def recall(self, query: RecallQuery) -> Recall:
        self.after.append(query.after.sequence)
        found = await super().recall(query)
        for row in await self.missing_vectors(1):
            await self.fill_vectors(make_remembered(row.breadcrumb.text, row.breadcrumb.place.sequence))
        return found


async def test_a_session_that_is_filled_in_is_never_read_again_and_its_vectors_are_there_the_next_time() -> None:
    store = Filled()
    rows = [make_remembered(f"The kiln has number {n}.", n) for n in range(1, 11)]
    for row in rows:
        await store.remember(bare(row))
    builder, trigger = make_builder(store), make_remembered("Which kiln is it?", 20)
    builder.recaller = replace(builder.recaller, reader=replace(builder.recaller.reader, page_rows=4))
    await builder.remember(trigger.breadcrumb)
    first = await build(builder, trigger)
    assert store.after == [0, 4, 8]
    assert first.flags == ("vectors_missing",)
    store.after.clear()
    while await store.count_missing_vectors():
        await build(builder, trigger)
    assert [(await build(builder, trigger)).flags for _ in range(2)] == [(), ()]
    assert set(store.after) == {20}


async def test_a_reading_that_is_cancelled_anywhere_is_begun_anew_by_the_next_one() -> None:
    store = durable_store()
    for n in range(1, 100):
        await store.remember(make_remembered(f"The kiln has number {n}.", n))
    for steps in range(1, 5):
        builder = make_builder(store)
        task = asyncio.create_task(builder.recaller.session_view("acme", "s42", make_place(200)))
        for _ in range(steps):
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        await asyncio.wait({task})
        assert (await builder.recaller.session_view("acme", "s42", make_place(200))).passages == 99
