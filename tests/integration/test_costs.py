"""What pages cost, read from the streams of a real service."""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest

from builder.app.components import counter
from builder.client import connect
from tests.commands import run
from tests.integration.profiles import with_profiles
from tests.running import Running, all_settled, jetstream

pytestmark = pytest.mark.asyncio
TURNS = 3
ANSWER = "Kiln three is free until noon."


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    """A service with a consumer that nobody reads."""
    templates = with_profiles(tmp_path, {"attic": "extends: default\n"})
    with Running(tmp_path / "data", templates_dir=templates, embedding__engine="none") as running:
        yield running


async def test_costs_are_those_of_the_contexts_of_the_last_day(service: Running) -> None:
    words = [f"Question {number}: which kiln is free? {'I have waited for it since noon. ' * 15}" for number in range(TURNS)]
    async with connect(service.url, "acme") as client, client.subscribed("default") as pages:
        for text in words:
            await client.send_user_message("s1", text)
            context = await anext(pages)
            await client.send_response(context, ANSWER)
        forgotten = await client.ask("s2", "My number is 4711.")
        await client.forget(forgotten.trigger_event_id)
    async with jetstream(service.url) as js:
        await all_settled(js)
    outcome = run("cost", "--workspace", "acme", "--json", env=service.env)
    row, attic = sorted(json.loads(outcome.stdout), key=lambda each: str(each["consumer"] == "attic"))
    assert (row["consumer"], row["contexts"], attic["contexts"]) == ("default", TURNS, TURNS)
    whole = [sum(map(counter(), [*words[: turn + 1], *[ANSWER] * turn])) for turn in range(TURNS)]
    assert row["sent"]["whole conversation"]["tokens"] == round(fmean(whole), 1)
    assert row["sent"]["whole conversation"] == row["sent"]["last 20 messages"]
    shown = run("cost", "--workspace", "acme", env=service.env).stdout
    assert "attic: 3 contexts\n" in shown
    assert run("cost", "--workspace", "nobody", env=service.env).stderr.startswith("no contexts in the last 24 hours")
