"""`bench load`: how much the service takes when it is never idle, beside the bare encoder in the same run.

And how long contexts take at half of that rate.
"""

import asyncio
import statistics
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from builder.app import Service, unsettled
from builder.bench.data.synthetic import WORKSPACE, texts
from builder.bench.speed.memory import resident_mb
from builder.bench.speed.quantiles import at, event_to_context, milliseconds
from builder.bench.speed.sender import Sender, SentMessage, open_sender
from builder.ports.models import Embedder

SLICE = 400
"""Messages of one slice: some two seconds, so that the machine's mood is the same for both sides of a pair."""
TRIGGERS = 30
"""Triggers of one slice that measures contexts."""
TRIGGER_EVERY = 20
PACED = 2_000
"""Messages that are sent evenly at half the rate that the service takes, one in twenty a trigger."""
SLICE_SECONDS = 4
"""About, for the progress bar."""
LOOK, TICK = 0.005, 0.005
"""Seconds between two looks at what is left, and between two looks at how late the event loop is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Per second, one value a slice. lags: seconds by which the event loop was late."""

    encoder: list[float] = field(default_factory=list)
    ingest: list[float] = field(default_factory=list)
    contexts: list[float] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)


async def run(service: Service, encoder: Embedder, seconds: float, sessions: int, step: Callable[[], None]) -> dict[str, Any]:
    """The report. service: serving. encoder: the service's engine without a cache. seconds: of the whole run, at least."""
    rates = Rates()
    async with open_sender(service.url, WORKSPACE) as sender:
        await _slice(service, encoder, sender, sessions, 0, Rates())
        began, number = perf_counter(), 1
        while perf_counter() - began < seconds or number < 3:  # noqa: PLR2004 - one each way round
            await _slice(service, encoder, sender, sessions, number, rates)
            number += 1
            step()
        half = statistics.median(rates.ingest) / 2
        waits = await sender.pace(_evenly(sessions, number), half)
        await _settled(service)
    return _report(rates, sessions, number - 1) | {"half_rate_per_second": round(half, 1), **event_to_context(waits)}


def _evenly(sessions: int, number: int) -> tuple[SentMessage, ...]:
    lines = texts(PACED, number * (SLICE + TRIGGERS))
    return tuple(_message(text, number, count, sessions, TRIGGER_EVERY) for count, text in enumerate(lines))


async def _slice(service: Service, encoder: Embedder, sender: Sender, sessions: int, number: int, rates: Rates) -> None:
    """The same texts through the bare encoder and through the service, each first in turn; then triggers alone."""
    lines = texts(SLICE + TRIGGERS, number * (SLICE + TRIGGERS))
    mostly = tuple(_message(text, number, count, sessions, TRIGGER_EVERY) for count, text in enumerate(lines[:SLICE]))
    triggers = tuple(_message(text, number, SLICE + count, sessions, 1) for count, text in enumerate(lines[SLICE:]))

    async def alone() -> None:
        began = perf_counter()
        await asyncio.gather(*map(encoder.embed, lines[:SLICE]))
        rates.encoder.append(SLICE / (perf_counter() - began))

    async def served() -> None:
        rates.ingest.append(SLICE / await _serve(service, sender, mostly, rates.lags))

    for work in (alone, served) if number % 2 else (served, alone):
        await work()
    rates.contexts.append(TRIGGERS / await _serve(service, sender, triggers, rates.lags))


def _message(text: str, number: int, count: int, sessions: int, every: int) -> SentMessage:
    schema = "user.message.v1" if count % every == 0 else "agent.response.v1"
    return SentMessage(schema=schema, session=f"load-{count % sessions}", id=f"l{number}-{count}", text=text)


async def _serve(service: Service, sender: Sender, messages: tuple[SentMessage, ...], lags: list[float]) -> float:
    """Seconds from the first publication to the last acknowledgement."""
    async with _watched(lags):
        began = perf_counter()
        await sender.send(messages)
        await _settled(service)
        return perf_counter() - began


async def _settled(service: Service) -> None:
    while await unsettled(service):
        await asyncio.sleep(LOOK)


@asynccontextmanager
async def _watched(lags: list[float]) -> AsyncIterator[None]:
    async def watch() -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK
            await asyncio.sleep(TICK)
            lags.append(loop.time() - due)

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def _report(rates: Rates, sessions: int, slices: int) -> dict[str, Any]:
    lags = sorted(rates.lags)
    encoder, ingest = statistics.median(rates.encoder), statistics.median(rates.ingest)
    return {
        "sessions": sessions,
        "slices": slices,
        "messages": slices * (SLICE + TRIGGERS) + PACED,
        "ingest_per_second": round(ingest, 1),
        "encoder_per_second": round(encoder, 1),
        "encoder_best_per_second": round(max(rates.encoder), 1),
        "ingest_ratio": round(statistics.median(rates.ingest) / max(rates.encoder), 3),
        "contexts_per_second": round(statistics.median(rates.contexts), 1),
        "loop_lag_p50_ms": milliseconds(statistics.median(lags)),
        "loop_lag_p99_ms": milliseconds(at(lags, 0.99)),
        "resident_mb": resident_mb(),
    }
