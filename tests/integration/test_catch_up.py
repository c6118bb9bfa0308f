"""Whoever was meant to hear it: what was said before a trigger is known when its context is built."""

from pathlib import Path

from builder.adapters.nats.stream import MAX_SINGLE_GETS
from builder.adapters.nats.topology import BREADCRUMBS, Topology, ensure_streams
from tests.running import Broker, Running, all_settled, answered, dead_letters, jetstream, remembered, say

OLD = MAX_SINGLE_GETS + 40
"""More than are read one by one."""


async def test_a_fresh_installation_answers_no_old_trigger_and_knows_them_all(broker: Broker, folder: Path) -> None:
    async with jetstream(broker.url) as js:
        await ensure_streams(js, Topology())
        await say(js, "The serial number of the blue kiln is K-4711.", "old", "m0")
        await say(js, "", "_", "catalog", schema="tool.catalog.v1", body={"tools": [{"name": "kiln-table"}]})
        for number in range(1, OLD):
            await say(js, f"Order {number} left the house.", "old", f"m{number}")
        poison = (await js.publish("breadcrumbs.acme.old.user.message.v1", b"{", stream=BREADCRUMBS)).seq
        await say(js, "The last order left the house.", "old", f"m{OLD}")
        with Running(folder / "service", broker.url):
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
