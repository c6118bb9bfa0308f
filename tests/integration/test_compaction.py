"""Whoever listens hears that tool results were folded; the context is published whether anybody could be told or not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nats
import pytest
from jsonschema import Draft202012Validator
from nats.js import JetStreamContext

from builder.app.config import bundled_folder
from tests.commands import DEADLINE
from tests.integration.inside import service_here, settings
from tests.running import Broker, all_settled, answered, say

SCHEMA = json.loads((bundled_folder("schemas") / "context.compacted.v1.json").read_text("utf-8"))
LETTER = " ".join(f"Sentence {n} of a long letter." for n in range(90))


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path / "broker") as running:
        yield running


async def long_exchange(js: JetStreamContext) -> None:
    """Eight large results, of which one has room, five messages, and the question."""
    for number in range(8):
        call = {"tool": "reader", "request_id": f"r{number}"}
        await say(js, "", "s1", f"c{number}", schema="tool.request.v1", body=call | {"input": {"letter": number}})
        await say(js, "", "s1", f"t{number}", schema="tool.response.v1", body=call | {"output": LETTER})
    for number in range(5):
        await say(js, f"Remark number {number}.", "s1", f"n{number}", schema="agent.response.v1")
    await say(js, "What was in the letter?", "s1", "ask")


async def test_a_compacted_context_is_announced_once_it_is_published(tmp_path: Path, broker: Broker) -> None:
    connection = await nats.connect(broker.url)
    heard = await connection.subscribe("compactions.acme.default.s1")
    await connection.flush()
    async with service_here(settings(tmp_path, broker.url)) as service:
        await long_exchange(service.js)
        told: dict[str, Any] = json.loads((await heard.next_msg(DEADLINE)).data)
        await all_settled(service.js)
        (context,) = await answered(service.js)
    await connection.close()
    Draft202012Validator(SCHEMA).validate(told)
    assert told["folded"] == [f"t{number}" for number in range(5)]
    assert told["original_tokens"] > 3000
    assert told["compacted_tokens"] < 50
    assert context["compaction"] == {key: told[key] for key in ("original_tokens", "compacted_tokens", "folded", "budget")}
    assert (told["context_id"], told["trigger_event_id"]) == (context["id"], "ask")
    assert "\n- 5 calls: reader 0, " in context["content"]
