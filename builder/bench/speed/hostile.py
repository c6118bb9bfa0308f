"""`bench load --hostile`: how long others wait while pathological records come, each followed by a trigger of its session."""

import asyncio
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count, groupby
from multiprocessing import get_context
from operator import attrgetter
from time import perf_counter
from typing import Any
from uuid import uuid4

from builder.app.service import Service
from builder.bench.data.hostile import Pathological, corpus
from builder.bench.speed.memory import resident_mb
from builder.bench.speed.quantiles import at, milliseconds
from builder.bench.speed.sender import CONSUMER, LAST_SECONDS, TRIGGER
from builder.client import Client, connect
from builder.wire.records import make_record, outgoing

RECORD_BYTES = 1_000_000
OTHERS = ("bench", "hostile")
"""Workspaces of those who wait: one has nothing hostile, the other has it in other sessions."""
HOSTILE = "hostile"
SESSIONS = 5
SMALL_SECONDS, LOOK_SECONDS = 0.1, 0.1
"""Seconds between two small messages of a workspace, and between two looks at `/livez` and at the memory."""
QUIET_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds, one value a message or request."""

    contexts: list[float] = field(default_factory=list)
    alive: list[float] = field(default_factory=list)

    @property
    def figures(self) -> dict[str, float]:
        """In milliseconds."""
        columns = {"longest": max(self.contexts), "p99": at(self.contexts, 0.99), "livez": max(self.alive)}
        return {f"{name}_ms": milliseconds(seconds) for name, seconds in columns.items()}


async def run(service: Service, port: int, step: Callable[[], None], size: int = RECORD_BYTES) -> dict[str, Any]:
    """The report: the longest and the 99th percentile of others' waits, and the longest of `/livez`, beside each schema."""
    loop, resident = asyncio.get_running_loop(), list[float]()
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:

        async def waits(kinds: tuple[str, ...]) -> Waits:
            return await loop.run_in_executor(pool, _measure, service.url, port, kinds, size)

        await waits(())
        quiet, steady = await waits(()), resident_mb()
        async with _watched(resident):
            kinds = {}
            for schema, same in _by_schema():
                kinds[schema] = (await waits(tuple(kind.name for kind in same))).figures
                step()
    return {
        "kinds": {"none": quiet.figures} | kinds,
        "steady_mb": steady,
        "peak_mb": max(resident),
        "memory_ratio": round(max(resident) / steady, 2),
    }


def steps() -> int:
    """Of the run."""
    return sum(1 for _ in _by_schema())


def _by_schema() -> Iterator[tuple[str, Iterator[Pathological]]]:
    schema = attrgetter("schema")
    return groupby(sorted(corpus(), key=schema), schema)


@asynccontextmanager
async def _watched(resident: list[float]) -> AsyncIterator[None]:
    async def watch() -> None:
        while True:
            resident.append(resident_mb())
            await asyncio.sleep(LOOK_SECONDS)

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def _measure(url: str, port: int, kinds: tuple[str, ...], size: int) -> Waits:
    return asyncio.run(_measure_waits(url, port, [kind for kind in corpus() if kind.name in kinds], size))


async def _measure_waits(url: str, port: int, kinds: list[Pathological], size: int) -> Waits:
    """In the sender's process: the hostile records one after the other, and all others beside them."""
    waits, done = Waits(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for workspace in OTHERS:
            group.create_task(_trickle(url, workspace, waits.contexts, done))
        group.create_task(_look(port, waits.alive, done))
        await (_send(url, kinds, size) if kinds else asyncio.sleep(QUIET_SECONDS))
        done.set()
    return waits


async def _trickle(url: str, workspace: str, waits: list[float], done: asyncio.Event) -> None:
    """A small message now and then; the seconds until each one's context."""
    sent: dict[str, float] = {}
    async with connect(url, workspace) as client, client.subscribed(CONSUMER, durable=None) as contexts:

        async def listen() -> None:
            async for context in contexts:
                moment = sent.pop(context.trigger_event_id, None)
                waits.extend(() if moment is None else (perf_counter() - moment,))
                if done.is_set() and not sent:
                    return

        listening = asyncio.create_task(listen())
        for number in count():
            last = done.is_set()
            session, identity = f"other-{number % SESSIONS}", str(uuid4())
            sent[identity] = perf_counter()
            await _publish(client, {"content": f"Where does the key of kiln {number} go?"}, TRIGGER, session, identity)
            if last:
                break
            await asyncio.sleep(SMALL_SECONDS)
        async with asyncio.timeout(LAST_SECONDS):
            await listening


async def _look(port: int, waits: list[float], done: asyncio.Event) -> None:
    while not done.is_set():
        start = perf_counter()
        await asyncio.to_thread(lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/livez").read())
        waits.append(perf_counter() - start)
        await asyncio.sleep(LOOK_SECONDS)


async def _send(url: str, kinds: list[Pathological], size: int) -> None:
    """Each record in a session of its own, and a trigger behind it, whose context is waited for."""
    async with connect(url, HOSTILE) as client, client.subscribed(CONSUMER, durable=None) as contexts:
        for kind in kinds:
            session = str(uuid4())
            record = make_record(kind.schema, f"{session}-record", session, {}) | dict(kind.make(size))
            await client.publish(outgoing(record, HOSTILE))
            trigger = f"{session}-asked"
            await _publish(client, {"content": "And now?"}, TRIGGER, session, trigger)
            async with asyncio.timeout(LAST_SECONDS):
                async for context in contexts:
                    if context.trigger_event_id == trigger:
                        break


async def _publish(client: Client, body: dict[str, Any], schema: str, session: str, identity: str) -> None:
    await client.publish(outgoing(make_record(schema, identity, session, body), client.workspace))
