"""Long input delays nobody: what is long is embedded after the trigger behind it was answered."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from nats.js import JetStreamContext

from builder.adapters.embedding.onnx import OnnxEmbedder
from builder.app.components import Components
from builder.domain.recall import Scope
from tests.integration.inside import engine_of, service_here, settings
from tests.running import all_settled, answered, say, until

FILES = 10
SESSION = Scope(workspace="acme", sessions=("s1",))
A_VECTOR = np.eye(1, 384, dtype="<f2").tobytes()
"""Of code: when it comes is what the test looks at."""
WORDS = ("cache", "session", "budget", "worker", "stream", "vector", "kiln", "glaze", "customer", "invoice", "window")


def source(seed: int, size: int = 13_000) -> str:
    """Lines of code that no other seed has."""
    lines: list[str] = []
    length = 0
    while length < size:
        first, second, third = (WORDS[(seed * step + len(lines)) % len(WORDS)] for step in (3, 5, 7))
        lines.append(f"def {first}_{seed}_{len(lines)}({second}):  # {third}\n    return {second} + {length}\n")
        length += len(lines[-1])
    return "".join(lines)


async def filled(core: Components) -> bool:
    return not await core.store.count_missing_vectors()


async def test_a_trigger_behind_ten_files_waits_for_none_of_their_vectors_and_the_next_one_reads_no_history_again(
    tmp_path: Path,
) -> None:
    answered_once = asyncio.Event()

    class Waiting(OnnxEmbedder):
        async def embed(self, text: str, input_type: str = "") -> bytes:
            if "def " in text:
                await answered_once.wait()
                return A_VECTOR
            return await super().embed(text, input_type)

    async with service_here(settings(tmp_path), engine_of(Waiting)) as service:
        await say(service.js, "Please read these files.", "s1", "m0")
        for number in range(FILES):
            body = {"tool": "file_read", "status": "success", "request_id": f"r{number}", "output": source(number)}
            await say(service.js, "", "s1", f"f{number}", schema="tool.response.v1", body=body)
        await say(service.js, "What does the cache do?", "s1", "m1")
        await all_settled(service.js)
        assert (await context_of(service.js, "m1"))["assembly"]["flags"] == ["vectors_missing"]
        assert await service.core.store.count_missing_vectors() == FILES
        answered_once.set()
        await until(partial(filled, service.core), "the vectors")
        history = service.core.history_cache.get(SESSION)
        await say(service.js, "And what does the worker do?", "s1", "m2")
        await all_settled(service.js)
        assert (await context_of(service.js, "m2"))["assembly"]["flags"] == []
        assert service.core.history_cache.get(SESSION) is history


async def context_of(js: JetStreamContext, trigger: str) -> dict[str, Any]:
    return next(event for event in await answered(js) if event["trigger_event_id"] == trigger)
