"""What pages cost, read from the streams of a real service."""

import json

import pytest

from builder.app.components import counter
from builder.client import connect
from tests.commands import run
from tests.running import Running

pytestmark = pytest.mark.asyncio
TURNS = 3


async def test_costs_are_those_of_the_contexts_of_the_last_day(service: Running) -> None:
    async with connect(service.url, "acme") as client:
        for number in range(TURNS):
            context = await client.ask("s1", f"Question {number}: which kiln is free? {'I have waited for it since noon. ' * 15}")
            await client.send_response(context, "Kiln three is free until noon.")
        forgotten = await client.ask("s2", "My number is 4711.")
        await client.forget(forgotten.trigger_event_id)
    outcome = run("cost", "--workspace", "acme", "--json", env=service.env)
    report = json.loads(outcome.stdout)
    (row,) = report["consumers"]
    assert (report["contexts"], report["unreadable"]) == (TURNS, 1)
    assert (row["consumer"], row["sessions"], row["responses"]) == ("default", 1, TURNS)
    assert 0 < row["reused_tokens"] < row["tokens"] < row["tokens_max"]
    assert row["response_tokens"] == counter()("Kiln three is free until noon.")
    assert run("cost", "--workspace", "nobody", env=service.env).stderr.startswith("no contexts in the last 24 hours")
