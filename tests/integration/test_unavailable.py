"""What is away is waited for; what is broken costs attempts; and neither takes others with it."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.adapters.nats.topology import Topology, ensure_streams
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.errors import Unavailable
from builder.worker.jobs import Pauses
from tests.integration.inside import service_here, settings, store_that, worker_here
from tests.running import Broker, all_settled, answered, dead_letters, jetstream, say, until
from tests.stores import Method

ATTEMPTS = 5


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A nats-server for the test."""
    with Broker(tmp_path / "broker") as running:
        yield running


class Failing:
    """Counts what is to be remembered by text, and fails `times` times on texts with `word`."""

    def __init__(self, word: str, times: int, error: Exception) -> None:
        self.tried = Counter[str]()
        self._word = word
        self._times = times
        self._error = error

    async def __call__(self, breadcrumb: Breadcrumb) -> None:
        self.tried[breadcrumb.text] += 1
        if self._word in breadcrumb.text and self.tried[breadcrumb.text] <= self._times:
            raise self._error


async def test_nothing_else_is_tried_while_the_store_is_away(tmp_path: Path, broker: Broker) -> None:
    times: list[float] = []

    async def away_at_first(_breadcrumb: Breadcrumb) -> None:
        times.append(asyncio.get_running_loop().time())
        if len(times) == 1:
            raise Unavailable("the disk is away")

    async def failed() -> bool:
        return bool(times)

    parts = store_that(away_at_first, pauses=Pauses(first=0.5, longest=0.5))
    async with service_here(settings(tmp_path, broker.url), parts) as service:
        await say(service.js, "Hello from 0.", "s0", "m0")
        await until(failed, "the first attempt")
        for number in range(1, 20):
            await say(service.js, f"Hello from {number}.", f"s{number}", f"m{number}")
        await all_settled(service.js)
        assert len(await answered(service.js)) == 20
    assert min(times[1:]) >= times[0] + 0.5


async def test_bugs_in_old_breadcrumbs_are_passed_over_and_do_not_cost_the_trigger(tmp_path: Path, broker: Broker) -> None:
    failing = Failing("beetle", 1000, RuntimeError("a bug"))
    parts = store_that(failing)
    async with jetstream(broker.url) as js:
        await ensure_streams(js, Topology())
        bad = [await say(js, f"Here is beetle {number}.", "s1", f"beetle-{number}") for number in range(3)]
        await say(js, "The serial number is K-4711.", "s1", "old")
        async with service_here(settings(tmp_path, broker.url), parts):
            await say(js, "What is the serial number?", "s1", "now")
            await all_settled(js)
            await say(js, "And now?", "s1", "next")
            await all_settled(js)
            assert [letter["sequence"] for letter in await dead_letters(js)] == bad
            events = await answered(js)
    assert [event["trigger_event_id"] for event in events] == ["now", "next"]
    assert "K-4711" in events[0]["content"]


async def test_what_dies_with_the_process_again_and_again_takes_no_innocent_one_with_it(tmp_path: Path, broker: Broker) -> None:
    killed = asyncio.Event()

    async def deadly(breadcrumb: Breadcrumb) -> None:
        if "poison" in breadcrumb.text:
            killed.set()
            await asyncio.Event().wait()
        for _ in range(100):
            await asyncio.sleep(0)

    def while_alive(undo_attempt: Method) -> Method:
        async def undo(place: Place) -> None:
            if not killed.is_set():  # the dead write nothing, though here they are only cancelled
                await undo_attempt(place)

        return undo

    parts = store_that(deadly, undo_attempt=while_alive)
    config = settings(tmp_path, broker.url)
    async with jetstream(broker.url) as js:
        await ensure_streams(js, Topology())
        left = {await say(js, "This is poison.", "s0", "m0")}
        left |= {await say(js, f"Hello from {number}.", f"s{number}", f"m{number}") for number in range(1, 9)}
        for _ in range(2 * ATTEMPTS):
            async with worker_here(config, parts) as bench:
                deliveries = {sequence: await bench.delivery(sequence) for sequence in sorted(left)}
                killed.clear()
                tasks = [asyncio.create_task(bench.worker.process(delivery)) for delivery in deliveries.values()]
                death = asyncio.create_task(killed.wait())
                await asyncio.wait({death, asyncio.ensure_future(asyncio.wait(tasks))}, return_when=asyncio.FIRST_COMPLETED)
                for task in (*tasks, death):
                    task.cancel()
                await asyncio.gather(*tasks, death, return_exceptions=True)
                left -= {sequence for sequence, delivery in deliveries.items() if delivery.settled}
        assert left == set()
        assert [letter["subject"] for letter in await dead_letters(js)] == ["breadcrumbs.acme.s0.user.message.v1"]
        assert len(await answered(js)) == 8
