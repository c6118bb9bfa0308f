"""State of a running service for `/livez` and `/readyz`."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial

from builder.adapters.embedding import CachedEmbedder
from builder.adapters.http import Check, Readiness
from builder.adapters.nats.clock import BrokerClock
from builder.adapters.nats.watchdog import Probe, Watchdog
from builder.app.components import Components
from builder.domain.errors import Unavailable
from builder.extra import StartedBroker
from builder.ports.store import StoreHealth

LOW_BYTES = 100_000_000


def readiness(
    core: Components,
    watchdog: Watchdog,
    templates: Check,
    probe: Probe,
    server: StartedBroker | None,
    clock: BrokerClock,
    show: Callable[[Mapping[str, str], bool], None],
) -> Readiness:
    """Only store and stream are required. show: as `Readiness`."""
    required: dict[str, Check] = {"store": core.store.check, "stream": watchdog.state}
    reported: dict[str, Check] = {
        "model": partial(model_state, core.embedder),
        "templates": templates,
        "clock": clock.state,
        "store_writes": partial(store_state, core.store),
        "stream_writes": partial(_stream_writes, probe, server),
    }
    return Readiness(required, reported, show)


def is_alive(watchdog: Watchdog, loops: list[asyncio.Task[None]]) -> bool:
    """Whether subscription and loops run."""
    return watchdog.alive and not any(task.done() for task in loops)


async def store_state(store: StoreHealth) -> str:
    """Problem of writes to the store, present or near; "" = none."""
    if store.refusal:
        return store.refusal
    free = await asyncio.to_thread(store.free_bytes)
    if free is None or free >= LOW_BYTES:
        return ""
    return f"the store has {free / 1e6:,.0f} MB left; free some, or set CONTEXT_BUILDER_DATA_DIR"


async def model_state(embedder: CachedEmbedder) -> str:
    """Problem of the engine; empty = it embeds."""
    try:
        await embedder.embed(f"ready at {datetime.now(UTC)}")  # a new text each time: the engine is asked, not its cache
    except Unavailable as error:
        return str(error)
    return ""


async def _stream_writes(probe: Probe, server: StartedBroker | None) -> str:
    return (await server.state() if server else "") or await probe.state()
