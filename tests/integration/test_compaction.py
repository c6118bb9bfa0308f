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
from tests.integration.profiles import with_profiles
from tests.running import Broker, all_settled, answered, say
from tests.two_sections import TWO_SECTIONS

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
    templates = with_profiles(tmp_path, {"default": TWO_SECTIONS})
    config = settings(tmp_path, broker.url).model_copy(update={"templates_dir": templates})
    async with service_here(config) as service:
        await long_exchange(service.js)
        told: dict[str, Any] = json.loads((await heard.next_msg(DEADLINE)).data)
        await all_settled(service.js)
        (context,) = await answered(service.js)
    await connection.close()
    Draft202012Validator(SCHEMA).validate(told)
    assert told["folded"] == ["t0", "t1"]
    assert told["original_tokens"] > 4000 >= told["compacted_tokens"]
    assert context["compaction"] == {key: told[key] for key in ("original_tokens", "compacted_tokens", "folded", "budget")}
    assert (told["context_id"], told["trigger_event_id"]) == (context["id"], "ask")
    assert "id t0]" in context["content"]
    parts = {part["id"]: part for part in context["omissions"]["partial"] if part["reason"] == "folded to one line"}
    assert list(parts) == told["folded"]
    assert all(part["shown"] < 50 for part in parts.values())
    assert all(part["tokens"] > 500 for part in parts.values())
