"""`bench load`: how much the service takes when it is never idle, beside the bare encoder in the same run.

And how long contexts take at half of that rate.
"""

import asyncio
import statistics
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from time import perf_counter
from typing import Any

from builder.app.service import Service
from builder.bench.data.synthetic import WORKSPACE, texts
from builder.bench.scratch import unsettled
from builder.bench.speed.memory import resident_mb
from builder.bench.speed.quantiles import at, event_to_context, milliseconds
from builder.bench.speed.sender import Sender, SentMessage, open_sender
from builder.ports.models import Embedder

TRIGGER_EVERY = 20
SLICE_SECONDS = 4
"""About, for the progress bar."""
LOOK_SECONDS, TICK_SECONDS = 0.005, 0.005
"""Seconds between two looks at what is left, and between two looks at how late the event loop is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many messages are sent."""

    slice: int = 400
    """Messages of one slice: about two seconds, so that both sides of a pair meet the same machine."""
    triggers: int = 30
    """Triggers of one slice that measures contexts."""
    paced: int = 2_000
    """Messages sent evenly at half the rate that the service takes, one in twenty a trigger."""

    is_cached: bool = False
    """Every slice has the texts of the first."""

    @property
    def round(self) -> int:
        """Messages of one slice with its triggers."""
        return self.slice + self.triggers


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Per second, one value a slice."""

    encoder: list[float] = field(default_factory=list)
    ingest: list[float] = field(default_factory=list)
    contexts: list[float] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)
    """Seconds by which the event loop was late."""


async def run(
    service: Service, encoder: Embedder, seconds: float, sessions: int, step: Callable[[], None], sizes: Sizes = Sizes()
) -> dict[str, Any]:
    """The report. service: serving. encoder: the service's engine without a cache. seconds: of the whole run, at least."""
    rates = Rates()
    async with open_sender(service.url, WORKSPACE) as sender:
        await _slice(service, encoder, sender, sessions, 0, Rates(), sizes)
        start, number = perf_counter(), 1
        while perf_counter() - start < seconds or number < 3:  # noqa: PLR2004 - one each way round
            await _slice(service, encoder, sender, sessions, number, rates, sizes)
            number += 1
            step()
        half = statistics.median(rates.ingest) / 2
        lines = _texts(sizes, number, sizes.paced)
        waits = await sender.pace(_messages(lines, number, 0, sessions, TRIGGER_EVERY), half)
        await _settled(service)
    figures = {"half_rate_per_second": round(half, 1), **event_to_context(waits)}
    return _report(rates, sessions, number - 1, sizes) | figures


async def _slice(
    service: Service, encoder: Embedder, sender: Sender, sessions: int, number: int, rates: Rates, sizes: Sizes
) -> None:
    """The same texts through the bare encoder and through the service, each first in turn; then triggers alone."""
    lines = _texts(sizes, number, sizes.round)
    mixture = _messages(lines[: sizes.slice], number, 0, sessions, TRIGGER_EVERY)
    triggers = _messages(lines[sizes.slice :], number, sizes.slice, sessions, 1)

    async def alone() -> None:
        start = perf_counter()
        await asyncio.gather(*map(encoder.embed, lines[: sizes.slice]))
        rates.encoder.append(sizes.slice / (perf_counter() - start))

    async def in_service() -> None:
        rates.ingest.append(sizes.slice / await _serve(service, sender, mixture, rates.lags))

    for work in (alone, in_service) if number % 2 else (in_service, alone):
        await work()
    rates.contexts.append(sizes.triggers / await _serve(service, sender, triggers, rates.lags))


def _texts(sizes: Sizes, number: int, count: int) -> list[str]:
    """Of the slice of this number."""
    if not sizes.is_cached:
        return texts(count, number * sizes.round)
    return list(islice(cycle(texts(sizes.round)), count))


def _messages(lines: list[str], number: int, first: int, sessions: int, every: int) -> tuple[SentMessage, ...]:
    """One message a line, spread over the sessions. first: number of the first one. every: which of them are triggers."""
    return tuple(
        SentMessage(
            schema="user.message.v1" if count % every == 0 else "agent.response.v1",
            session=f"load-{count % sessions}",
            id=f"l{number}-{count}",
            text=text,
        )
        for count, text in enumerate(lines, first)
    )


async def _serve(service: Service, sender: Sender, messages: tuple[SentMessage, ...], lags: list[float]) -> float:
    """Seconds from the first publication to the last acknowledgement."""
    async with _watched(lags):
        start = perf_counter()
        await sender.send(messages)
        await _settled(service)
        return perf_counter() - start


async def _settled(service: Service) -> None:
    while await unsettled(service):
        await asyncio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def _watched(lags: list[float]) -> AsyncIterator[None]:
    async def watch() -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            lags.append(loop.time() - due)

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def _report(rates: Rates, sessions: int, slices: int, sizes: Sizes) -> dict[str, Any]:
    lags = sorted(rates.lags)
    encoder, ingest = statistics.median(rates.encoder), statistics.median(rates.ingest)
    return {
        "sessions": sessions,
        "slices": slices,
        "messages": slices * sizes.round + sizes.paced,
        "ingest_per_second": round(ingest, 1),
        "encoder_per_second": round(encoder, 1),
        "encoder_best_per_second": round(max(rates.encoder), 1),
        "ingest_ratio": round(statistics.median(rates.ingest) / max(rates.encoder), 3),
        "contexts_per_second": round(statistics.median(rates.contexts), 1),
        "loop_lag_p50_ms": milliseconds(statistics.median(lags)),
        "loop_lag_p99_ms": milliseconds(at(lags, 0.99)),
        "resident_mb": resident_mb(),
    }
