"""`bench load --hostile`: how long others wait while pathological records come, each followed by a message of its session."""

import asyncio
import urllib.request
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack
from itertools import count
from multiprocessing import get_context
from time import perf_counter
from typing import Any
from uuid import uuid4

from builder.app.service import Service
from builder.bench.data.hostile import Pathological, corpus
from builder.bench.speed.memory import resident_mb
from builder.bench.speed.quantiles import at, milliseconds
from builder.bench.speed.sender import LAST_SECONDS
from builder.client import Client, connect
from builder.wire.records import make_record, outgoing

RECORD_BYTES = 1_000_000
OTHERS = ("bench", "hostile")
"""Workspaces of those who wait: the last one has what is hostile, in other sessions."""
SESSIONS = 5
LOOK_SECONDS = 0.1
"""Between two small messages of a workspace, and between two looks at `/livez` and at the memory."""
QUIET_SECONDS = 8.0


Waits = dict[str, list[float]]
"""Seconds of each context (`context`) and of each answer of `/livez` (`livez`)."""


async def run(service: Service, port: int, step: Callable[[], None], size: int = RECORD_BYTES) -> dict[str, Any]:
    """The report: the longest and the 99th percentile of others' waits, and the longest of `/livez`, beside each schema."""
    loop, kinds, steady, peak = asyncio.get_running_loop(), dict[str, dict[str, float]](), 0.0, 0.0
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        for schema in ("", "", *schemas()):  # the first time everything is warmed up
            waits = loop.run_in_executor(pool, _measured, service.url, port, schema, size)
            while not (await asyncio.wait({waits}, timeout=LOOK_SECONDS))[0]:
                peak = max(peak, resident_mb())
            kinds[schema or "none"] = _figures(await waits)
            if schema:
                step()
            else:
                steady = peak = resident_mb()
    return {"kinds": kinds, "steady_mb": steady, "peak_mb": peak, "memory_ratio": round(peak / steady, 2)}


def schemas() -> list[str]:
    """Of the hostile records."""
    return sorted({kind.schema for kind in corpus()})


def _figures(waits: Waits) -> dict[str, float]:
    """In milliseconds."""
    seconds, alive = waits["context"], waits["livez"]
    columns = {"longest": max(seconds), "p99": at(seconds, 0.99), "livez": max(alive)}
    return {f"{name}_ms": milliseconds(value) for name, value in columns.items()}


def _measured(url: str, port: int, schema: str, size: int) -> Waits:
    return asyncio.run(_measured_waits(url, port, [kind for kind in corpus() if kind.schema == schema], size))


async def _measured_waits(url: str, port: int, kinds: list[Pathological], size: int) -> Waits:
    """In the sender's process: the hostile records one after the other, and all others beside them."""
    waits: Waits = {"context": [], "livez": []}
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connect(url, workspace)) for workspace in OTHERS]
        sending = asyncio.create_task(_send(clients[-1], kinds, size) if kinds else asyncio.sleep(QUIET_SECONDS))
        async with asyncio.TaskGroup() as group:
            for number in count():
                question = f"Where does the key of kiln {number} go?"
                for client in clients:
                    group.create_task(
                        _timed(waits["context"], client.ask(f"other-{number % SESSIONS}", question, timeout=LAST_SECONDS))
                    )
                alive = asyncio.to_thread(lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/livez").read())
                group.create_task(_timed(waits["livez"], alive))
                if (await asyncio.wait({sending}, timeout=LOOK_SECONDS))[0]:
                    break
        await sending
    return waits


async def _timed(seconds: list[float], work: Awaitable[object]) -> None:
    start = perf_counter()
    await work
    seconds.append(perf_counter() - start)


async def _send(client: Client, kinds: list[Pathological], size: int) -> None:
    """Each record in a session of its own, and a message behind it, whose context is waited for."""
    for kind in kinds:
        session = str(uuid4())
        record = make_record(kind.schema, f"{session}-record", session, {}) | dict(kind.make(size))
        await client.publish(outgoing(record, client.workspace))
        await client.ask(session, "And now?", timeout=LAST_SECONDS)
