"""State of a running service for `/livez`, `/readyz` and gauges, and its subscribers."""

import asyncio
import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from builder import __version__
from builder.adapters.embedding import CachedEmbedder
from builder.adapters.http import Check, Readiness
from builder.adapters.nats.clock import BrokerClock
from builder.adapters.nats.requests import Subscription, read_subscriptions
from builder.adapters.nats.watchdog import Probe, Watchdog
from builder.app.broker import connected
from builder.app.components import Components
from builder.app.settings import Settings
from builder.app.telemetry import Metrics
from builder.domain.errors import Unavailable
from builder.extra import StartedBroker
from builder.ports.store import StoreHealth
from builder.worker.backfill import Backfill

LOW_BYTES = 100_000_000
SOURCES = ("*.py", "*.toml", "*.sql")


def show_gauges(
    metrics: Metrics,
    store: StoreHealth,
    data_dir: Path,
    probe: Probe,
    backfill: Backfill,
    watchdog: Watchdog,
) -> None:
    """Gauges ask their part whenever metrics are scraped."""

    def free() -> int:
        bytes_free = store.free_bytes()
        return shutil.disk_usage(data_dir).free if bytes_free is None else bytes_free

    metrics.gauges["disk_free_bytes"].set_function(free)
    metrics.gauges["store_bytes"].set_function(store.size_bytes)
    for name in probe.sizes:
        metrics.gauges["stream_bytes"].labels(name).set_function(partial(lambda stream: probe.sizes[stream], name))
    metrics.gauges["dead_letters_waiting"].set_function(lambda: probe.letters)
    metrics.gauges["vectors_missing"].set_function(lambda: backfill.missing)
    metrics.gauges["queue_pending"].set_function(lambda: watchdog.pending)
    metrics.gauges["queue_age_seconds"].set_function(lambda: _age(watchdog.oldest))


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


@cache
def code_revision() -> str:
    """Version and hash of the source."""
    package = Path(str(files("builder")))
    digest = sha256()
    for file in sorted(file for kind in SOURCES for file in package.rglob(kind)):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{__version__}+{digest.hexdigest()[:8]}"


def build_facts(name: str, core: Components) -> dict[str, str]:
    """For `context_builder_build_info`. name: of the installation."""
    profiles = core.profiles
    revisions = sorted(f"{profile.consumer} {profile.revision}" for profile in profiles)
    return {
        "name": name,
        "version": __version__,
        "code": code_revision(),
        "model": core.embedder.model,
        "templates": core.config.templates.revision,
        "profiles": sha256("\n".join(revisions).encode()).hexdigest()[:8],
    }


async def list_subscriptions(settings: Settings, servers: str) -> tuple[Subscription, ...]:
    """Subscribers to contexts of an installation. Raises `Unavailable`."""
    async with connected(settings, servers) as connection:
        return await read_subscriptions(connection.jetstream(), settings.installation, datetime.now(UTC))


async def _stream_writes(probe: Probe, server: StartedBroker | None) -> str:
    return (await server.state() if server else "") or await probe.state()


def _age(oldest: datetime | None) -> float:
    return (datetime.now(UTC) - oldest).total_seconds() if oldest else 0.0
