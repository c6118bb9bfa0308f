"""The state of a running service, for `/livez`, `/readyz`, the gauges, and the other workers of its installation."""

import asyncio
import shutil
import socket
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from nats.aio.client import Client

from builder import __version__
from builder.adapters.embedding import CachedEmbedder
from builder.adapters.http import Check, Readiness
from builder.adapters.nats.peers import FAILURES, PeerBucket, Peers
from builder.adapters.nats.probe import Probe, clock_state
from builder.adapters.nats.server import EmbeddedServer
from builder.adapters.nats.subscriptions import Subscription, read_subscriptions
from builder.adapters.nats.watchdog import Watchdog
from builder.app.broker import connected
from builder.app.components import Components
from builder.app.settings import Settings
from builder.app.telemetry import Metrics
from builder.client.connecting import reason
from builder.domain.errors import Unavailable
from builder.domain.peer import Peer
from builder.ports.store import StoreHealth
from builder.wire.subjects import Installation
from builder.worker.backfill import Backfill

LOW_BYTES = 100_000_000
"""Free bytes below which an operator should act."""
ID_FILE = "worker-id"
SOURCES = ("*.py", "*.toml", "*.sql")


def show_gauges(
    metrics: Metrics,
    store: StoreHealth,
    data_dir: Path,
    probe: Probe,
    backfill: Backfill,
    watchdog: Watchdog,
    peers: Peers,
) -> None:
    """Let each gauge ask its part whenever metrics are scraped."""

    def free() -> int:
        bytes_free = store.free_bytes()
        return shutil.disk_usage(data_dir).free if bytes_free is None else bytes_free

    metrics.free.set_function(free)
    metrics.store.set_function(store.size_bytes)
    for name in probe.sizes:
        metrics.stream.labels(name).set_function(partial(lambda stream: probe.sizes[stream], name))
    metrics.letters.set_function(lambda: probe.letters)
    metrics.peers.labels("same").set_function(lambda: peers.same)
    metrics.peers.labels("differing").set_function(lambda: peers.differing)
    metrics.missing_vectors.set_function(lambda: backfill.missing)
    metrics.pending.set_function(lambda: watchdog.pending)
    metrics.age.set_function(lambda: _age(watchdog.oldest))


def readiness(
    core: Components,
    watchdog: Watchdog,
    templates: Check,
    probe: Probe,
    server: EmbeddedServer | None,
    peers: Peers,
    connection: Client,
    installation: Installation,
    show: Callable[[Mapping[str, str], bool], None],
) -> Readiness:
    """The service is not ready without store and stream; problems of the other parts are only reported. show: as `Readiness`."""
    required: dict[str, Check] = {"store": core.store.check, "stream": watchdog.state}
    reported: dict[str, Check] = {
        "model": partial(model_state, core.embedder),
        "templates": templates,
        "peers": peers.state,
        "clock": partial(clock_state, connection, installation, lambda: datetime.now(UTC)),
        "store_writes": partial(store_state, core.store),
        "stream_writes": partial(_stream_writes, probe, server),
    }
    return Readiness(required, reported, show)


def is_alive(watchdog: Watchdog, loops: list[asyncio.Task[None]]) -> bool:
    """Whether subscription and loops run. A loop beside the worker ends by a bug only."""
    return watchdog.alive and not any(task.done() for task in loops)


async def store_state(store: StoreHealth) -> str:
    """Why writes to the store fail, or soon will; empty when they succeed."""
    if store.refusal:
        return store.refusal
    free = await asyncio.to_thread(store.free_bytes)
    if free is None or free >= LOW_BYTES:
        return ""
    return f"the store has {free / 1e6:,.0f} MB left; free some, or set CONTEXT_BUILDER_DATA_DIR"


async def model_state(embedder: CachedEmbedder) -> str:
    """Why the engine embeds nothing right now; empty when it does."""
    try:
        await embedder.embed(f"ready at {datetime.now(UTC)}")  # a new text each time: the engine is asked, not its cache
    except Unavailable as error:
        return str(error)
    return ""


@cache
def code_revision() -> str:
    """The version, and a hash of the source: two builds of one version differ."""
    package = Path(str(files("builder")))
    digest = sha256()
    for file in sorted(file for kind in SOURCES for file in package.rglob(kind)):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{__version__}+{digest.hexdigest()[:8]}"


def worker_id(folder: Path) -> str:
    """The id of the worker on a data folder and machine: after a crash its next process takes the same place."""
    file, fresh = folder / ID_FILE, uuid.uuid4().hex
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.write_text(fresh, "utf-8")
        fresh = file.read_text("utf-8")
    except OSError:
        pass  # a folder that takes no file: another id after each start
    return sha256(f"{socket.gethostname()}\0{fresh}".encode()).hexdigest()[:8]


def this_worker(folder: Path, core: Callable[[], Components]) -> Callable[[], Peer]:
    """What this process runs, asked again after every reload. folder: of its data. core: the present components."""
    identity, started_at, code = worker_id(folder), datetime.now(UTC), code_revision()

    def worker() -> Peer:
        present = core()
        return Peer(
            id=identity,
            host=socket.gethostname(),
            code=code,
            model=present.embedder.model,
            templates=present.config.templates.revision,
            profiles={each.consumer: each.revision for each in (*present.profiles, *present.config.shadows)},
            started_at=started_at,
        )

    return worker


async def list_workers(settings: Settings, servers: str) -> tuple[Peer, ...]:
    """The workers of the installation on a broker, the one that started first in front. Raises `Unavailable`."""
    async with connected(settings, servers) as connection:
        try:
            return await PeerBucket(connection.jetstream(), settings.installation).read()
        except FAILURES as error:
            raise Unavailable(f"the workers cannot be seen: {reason(error)}; has a service run on this broker?") from error


async def list_subscriptions(settings: Settings, servers: str) -> tuple[Subscription, ...]:
    """Who listens to contexts on a broker, of all workspaces of the installation. Raises `Unavailable`."""
    async with connected(settings, servers) as connection:
        return await read_subscriptions(connection.jetstream(), settings.installation, datetime.now(UTC))


async def _stream_writes(probe: Probe, server: EmbeddedServer | None) -> str:
    """The log of the embedded server tells more than a probe, which writes to a stream of its own."""
    return (await server.state() if server else "") or await probe.state()


def _age(oldest: datetime | None) -> float:
    return (datetime.now(UTC) - oldest).total_seconds() if oldest else 0.0
