"""What this worker runs, and which workers an installation has."""

import socket
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from builder import __version__
from builder.adapters.nats.peers import FAILURES, PeerBucket
from builder.app.broker import connected
from builder.app.components import Components
from builder.app.settings import Settings
from builder.client.connecting import reason
from builder.domain.errors import Unavailable
from builder.domain.peer import Peer

ID_FILE = "worker-id"
SOURCES = ("*.py", "*.toml", "*.sql")


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
