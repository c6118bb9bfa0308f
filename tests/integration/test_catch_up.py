"""Whoever was meant to hear it: what was said before a trigger is known when its context is built."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.adapters.nats.stream import MAX_SINGLE_GETS
from builder.adapters.nats.topology import BREADCRUMBS, Topology, ensure_streams
from tests.running import Broker, Running, all_settled, answered, dead_letters, jetstream, remembered, say

OLD = MAX_SINGLE_GETS + 40
"""More than are read one by one."""


def catalog(*tools: str) -> dict[str, object]:
    """The body of a tool catalog."""
    return {"tools": [{"name": tool, "description": f"Does {tool}."} for tool in tools]}


@pytest.fixture(scope="module")
def service(folder: Path, broker: Broker) -> Iterator[Running]:
    """A service that a test starts when its history is in the stream."""
    running = Running(folder / "service", broker.url)
    yield running
    running.kill()


async def test_a_fresh_installation_answers_no_old_trigger_and_knows_them_all(
    service: Running, broker: Broker, folder: Path
) -> None:
    async with jetstream(broker.url) as js:
        await ensure_streams(js, Topology())
        await say(js, "The serial number of the blue kiln is K-4711.", "old", "m0")
        await say(js, "", "_", "catalog", schema="tool.catalog.v1", body=catalog("kiln-table"))
        for number in range(1, OLD):
            await say(js, f"Order {number} left the house.", "old", f"m{number}")
        poison = (await js.publish("breadcrumbs.acme.old.user.message.v1", b"{", stream=BREADCRUMBS)).seq
        await say(js, "The last order left the house.", "old", f"m{OLD}")
        service.start()
        await all_settled(js)
        assert await answered(js) == []
        await say(js, "What is the serial number of the blue kiln?", "old", "now")
        await say(js, "And where are the orders?", "old", "next")
        await all_settled(js)
        contexts = await answered(js)
        letters = await dead_letters(js)
    assert [event["trigger_event_id"] for event in contexts] == ["now", "next"]
    for part in ("K-4711", f"Order {OLD - 1} left", "The last order left", "kiln-table"):
        assert part in contexts[0]["content"]
    assert [letter["sequence"] for letter in letters] == [poison]
    held = remembered(folder / "service")
    assert [id_ for _, session, id_ in held if session == "old"] == [*(f"m{number}" for number in range(OLD + 1)), "now", "next"]


async def test_what_was_published_while_no_worker_ran_is_in_the_next_contexts(
    service: Running, broker: Broker, folder: Path
) -> None:
    assert service.stop() == 0
    slow_to_embed = (f"tool number {number}, which does what number {number - 1} does, but slowly" for number in range(200))
    async with jetstream(broker.url) as js:
        await say(js, "", "_", "catalog", schema="tool.catalog.v1", version=2, body=catalog("glaze-finder", *slow_to_embed))
        for number in range(12):
            await say(js, f"I am visitor {number}.", f"v{number}", f"name-{number}", schema="note.v1")
            await say(js, "My bicycle has a flat tyre.", f"v{number}", f"tyre-{number}", schema="agent.response.v1")
            await say(js, f"What do you know of me, visitor {number}?", f"v{number}", f"asks-{number}")
        service.start()
        await all_settled(js)
        contexts = {event["session_id"]: event["content"] for event in await answered(js)}
        assert len(await dead_letters(js)) == 1
        said = {f"{what}-{number}" for what in ("name", "tyre", "asks") for number in range(12)}
        assert said <= {id_ for *_, id_ in remembered(folder / "service")}
    for number in range(12):
        content = contexts[f"v{number}"]
        assert "My bicycle has a flat tyre." in content
        assert "glaze-finder" in content
        assert "kiln-table" not in content
