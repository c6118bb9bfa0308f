"""Gauges of a running service, and the facts of its build."""

import shutil
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from builder import __version__
from builder.adapters.nats.watchdog import Probe, Watchdog
from builder.app.components import Components
from builder.app.telemetry import Metrics
from builder.ports.store import StoreHealth
from builder.worker.backfill import Backfill

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


def _age(oldest: datetime | None) -> float:
    return (datetime.now(UTC) - oldest).total_seconds() if oldest else 0.0
