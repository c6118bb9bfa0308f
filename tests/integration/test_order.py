"""Sessions side by side, one session in order, and nobody is forgotten while somebody is slow."""

import asyncio
from contextlib import aclosing
from pathlib import Path

from builder.client import connect
from builder.domain.breadcrumb import Breadcrumb
from tests.commands import DEADLINE
from tests.integration.inside import service_here, settings, store_that, worker_here
from tests.running import all_settled, answered, say

SESSIONS, MESSAGES = 5, 100


async def test_the_contexts_of_a_session_come_in_the_order_of_its_messages(tmp_path: Path) -> None:
    async with service_here(settings(tmp_path)) as service, connect(service.url, "acme") as client, asyncio.timeout(DEADLINE):
        for number in range(MESSAGES):
            await say(service.js, f"Message {number} of many.", f"s{number % SESSIONS}", f"m{number}")
        received = []
        async with aclosing(client.contexts("default", deliver="all")) as contexts:
            async for context in contexts:
                received.append(context)
                if len(received) == MESSAGES:
                    break
        await all_settled(service.js)
        assert len(await answered(service.js)) == MESSAGES
    assert not any(context.late for context in received)
    for session in range(SESSIONS):
        mine = [context for context in received if context.session_id == f"s{session}"]
        assert [context.trigger_event_id for context in mine] == [f"m{number}" for number in range(session, MESSAGES, SESSIONS)]
        # Each one knows all that was said before it.
        previous = ("", *(context.trigger_event_id for context in mine))
        for before, context in zip(previous, mine, strict=False):
            assert not before or f"Message {before[1:]} of many." in context.content


async def test_a_slow_delivery_and_those_behind_it_are_kept_alive_until_they_are_settled(tmp_path: Path) -> None:
    enough = asyncio.Event()

    async def slow(_breadcrumb: Breadcrumb) -> None:
        await enough.wait()

    async with worker_here(settings(tmp_path), store_that(slow), heartbeat=0.01) as bench:
        deliveries = [await bench.delivery(await say(bench.js, f"Message {number}.", "s1", f"m{number}")) for number in range(3)]
        working = asyncio.gather(*(bench.worker.process(delivery) for delivery in deliveries))
        async with asyncio.timeout(DEADLINE):
            while min(delivery.beats for delivery in deliveries) < 5:
                await asyncio.sleep(0.01)
            assert [delivery.settled for delivery in deliveries] == [[], [], []]
            enough.set()
            await working
        assert [delivery.settled for delivery in deliveries] == [["ack"]] * 3
        beats = [delivery.beats for delivery in deliveries]
        await say(bench.js, "A later one.", "s2", "later")
        assert [delivery.beats for delivery in deliveries] == beats
