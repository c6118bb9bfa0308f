"""A body that costs most delays its own session alone: other sessions and workspaces are answered before it is done."""

import json
from pathlib import Path

import pytest

from builder.adapters.nats.topology import CONTEXTS
from builder.app.settings import EmbeddingSettings
from builder.bench.data.hostile import corpus
from tests.examples import is_full
from tests.integration.inside import service_here, settings
from tests.running import all_settled, say

BYTES = 400_000
WORST = ("flags", "backticks", "fences", "addresses", "numerals", "data URLs") if is_full() else ("backticks", "flags")


@pytest.mark.parametrize("text", WORST)
async def test_small_messages_behind_a_big_one_are_answered_before_it(tmp_path: Path, text: str) -> None:
    kind = next(kind for kind in corpus() if kind.name == f"user.message.v1 content: {text}")
    quick = settings(tmp_path).model_copy(update={"embedding": EmbeddingSettings(engine="none")})
    async with service_here(quick) as service:
        await say(service.js, "", "big", "big", body=kind.make(BYTES)["context"])
        await say(service.js, "Where does the key go?", "small", "small")
        await say(service.js, "Where does the key go?", "big", "foreign", workspace="other")
        await all_settled(service.js)
        events = [json.loads((await service.js.get_msg(CONTEXTS, number)).data or b"") for number in (1, 2, 3)]
    order = [event["trigger_event_id"] for event in events]
    assert (order[-1], {*order[:-1]}) == ("big", {"small", "foreign"})
