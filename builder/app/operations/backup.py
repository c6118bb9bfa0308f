"""Backup and restore of the streams. The store is made from them, so a backup holds none."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import StreamInfo
from pydantic import BaseModel, ValidationError

from builder.adapters.nats.connection import optional
from builder.adapters.nats.snapshot import Snapshot, digest, restore_durables, restore_snapshot, take_snapshot
from builder.adapters.nats.topology import (
    BREADCRUMBS,
    CONTEXTS,
    DEADLETTERS,
    RESTORED_AT,
    RESTORED_FILE,
    RESTORED_FROM,
    all_breadcrumbs,
    incarnation_of,
)
from builder.app.address import running
from builder.app.broker import connected, open_bus
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured, Rejected, Unavailable
from builder.wire.subjects import Installation

KINDS = (BREADCRUMBS, CONTEXTS, DEADLETTERS)
"""In the order of a backup: CONTEXTS then has the contexts of the triggers in BREADCRUMBS. A restore goes the other way: no
trigger is there before the contexts that keep it from being answered again."""
MANIFEST = "manifest.json"
SETTLE_SECONDS = 30.0
"""How long a backup waits for the contexts of the triggers that it holds."""
LOOK_SECONDS = 0.05
Progress = Callable[[int, int], None]


class Manifest(BaseModel, frozen=True):
    """What a backup holds so far."""

    installation: str
    incarnation: int
    """Of BREADCRUMBS."""
    streams: dict[str, Snapshot] = {}

    @property
    def is_whole(self) -> bool:
        """Whether it has every stream."""
        return self.streams.keys() >= set(KINDS)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """For people."""
        return [{"stream": kind, "messages": each.messages, "last": each.last} for kind, each in self.streams.items()]


async def back_up(settings: Settings, servers: str, folder: Path, progress: Progress) -> dict[str, Any]:
    """Write the streams to a folder, beside the running service; an interrupted backup goes on with the stream where it was.

    servers: "" = those of the settings. progress: bytes of a stream. Raises `Rejected` for a folder that cannot be used or holds
    another backup, `Unavailable`, `Misconfigured`.
    """
    own, unsettled = settings.installation, 0
    async with _broker(settings, servers) as connection:
        js = connection.jetstream()
        info = await optional("looking at the stream", js.stream_info(own.stream(BREADCRUMBS)))
        if info is None:
            raise Rejected(
                f"this broker has no stream {own.stream(BREADCRUMBS)}; check CONTEXT_BUILDER_NATS__SERVERS and "
                "CONTEXT_BUILDER_NAME"
            )
        manifest = _begin(folder, Manifest(installation=own.name, incarnation=incarnation_of(info)))
        for kind in (each for each in KINDS if each not in manifest.streams):
            if kind == CONTEXTS:
                unsettled = await _settled(js, own, manifest.streams[BREADCRUMBS].last)
            with _folder_errors(folder):
                snapshot = await take_snapshot(connection, own.stream(kind), _file(folder, kind), progress)
                manifest = manifest.model_copy(update={"streams": manifest.streams | {kind: snapshot}})
                partial = folder / f"{MANIFEST}.partial"
                partial.write_text(manifest.model_dump_json(indent=2), "utf-8")
                partial.replace(folder / MANIFEST)
    return {"folder": str(folder), "streams": manifest.rows, "unsettled": unsettled}


async def restore(settings: Settings, servers: str, folder: Path, progress: Progress) -> dict[str, Any]:
    """Make the streams of a backup; an interrupted restore goes on with the stream where it was.

    servers, progress: as for `back_up`. Raises `Rejected` for a backup that is damaged or not whole and for a stream with
    messages of its own, `Misconfigured` while the service runs, `Unavailable`.
    """
    own, kinds = settings.installation, tuple(reversed(KINDS))
    manifest = _verified(folder, own.name)
    if service := running(settings):
        raise Misconfigured(f"the service of process {service.pid} runs; stop every worker, then run the command again")
    async with _broker(settings, servers) as connection:
        js = connection.jetstream()
        present = {kind: await optional("looking at the streams", js.stream_info(own.stream(kind))) for kind in kinds}
        missing = [kind for kind in kinds if not _is_restored(present[kind], manifest.streams[kind])]
        marks = {RESTORED_FROM: str(manifest.incarnation), RESTORED_AT: f"{datetime.now(UTC).timestamp() * 1_000_000:.0f}"}
        for kind in missing:
            await optional("removing an empty stream", js.delete_stream(own.stream(kind)))
            saved, file = manifest.streams[kind], _file(folder, kind)
            metadata = (saved.config.get("metadata") or {}) | marks | {RESTORED_FILE: saved.sha256}
            changes = {"num_replicas": settings.nats.replicas, "metadata": metadata}
            with _folder_errors(folder):
                _check_counts(saved, await restore_snapshot(connection, saved, changes, file, progress))
        for kind in kinds:
            await restore_durables(connection, manifest.streams[kind])
    return {"folder": str(folder), "streams": manifest.rows, "restored": missing}


def _begin(folder: Path, new: Manifest) -> Manifest:
    """The manifest of an interrupted backup, else the new one. Raises `Rejected`."""
    with _folder_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if not (folder / MANIFEST).exists():
        return new
    old = _read(folder)
    if old.is_whole or (old.installation, old.incarnation) != (new.installation, new.incarnation):
        what = "a finished backup" if old.is_whole else "the beginning of a backup of another stream"
        raise Rejected(f"{folder} holds {what}; name another folder")
    return old


def _verified(folder: Path, installation: str) -> Manifest:
    """The manifest of a backup that is whole and undamaged. installation: its name. Raises `Rejected`."""
    manifest = _read(folder)
    if not manifest.is_whole:
        raise Rejected(f"the backup in {folder} was interrupted: run `context-builder backup {folder}` again, or use another one")
    if manifest.installation != installation:
        raise Rejected(
            f"{folder} is a backup of installation {manifest.installation!r}, this one is {installation!r}; "
            "set CONTEXT_BUILDER_NAME"
        )
    with _folder_errors(folder):
        damaged = [kind for kind, saved in manifest.streams.items() if digest(_file(folder, kind)) != saved.sha256]
    if damaged:
        raise Rejected(f"{_file(folder, damaged[0])} is damaged: its SHA-256 is not that of the manifest; use another backup")
    return manifest


def _read(folder: Path) -> Manifest:
    with _folder_errors(folder):
        text = (folder / MANIFEST).read_bytes()
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        raise Rejected(
            f"{folder / MANIFEST} is no manifest of a backup: {error.errors()[0]['msg']}; use another backup"
        ) from error


def _file(folder: Path, kind: str) -> Path:
    return folder / f"{kind}.tar.s2"


@contextmanager
def _folder_errors(folder: Path) -> Iterator[None]:
    """Raises `Rejected` for what the file system refuses."""
    try:
        yield
    except OSError as error:
        raise Rejected(f"the backup folder {folder} cannot be used: {error}; check its path, rights and disk") from error


@asynccontextmanager
async def _broker(settings: Settings, servers: str) -> AsyncIterator[Client]:
    """That of the settings or of the running service, else the embedded one, which runs for the block."""
    service = running(settings)
    if address := servers or settings.nats.servers or (service.nats if service else ""):
        async with connected(settings, address) as connection:
            yield connection
    else:
        async with open_bus(settings) as bus:
            yield bus.connection


async def _settled(js: JetStreamContext, own: Installation, last: int) -> int:
    """Wait until workers have settled everything up to a sequence; how many messages they have not, or 0.

    It ends after SETTLE_SECONDS, and at once while no worker asks for messages.
    """
    durable, end = all_breadcrumbs(own), asyncio.get_running_loop().time() + SETTLE_SECONDS
    while True:
        info = await optional("looking at the durable", js.consumer_info(durable.stream, durable.durable))
        if info is None or (info.ack_floor and info.ack_floor.stream_seq >= last):
            return 0
        in_work = info.num_ack_pending or 0
        if not (in_work or info.num_waiting) or asyncio.get_running_loop().time() > end:
            return in_work + (info.num_pending or 0)
        await asyncio.sleep(LOOK_SECONDS)


def _is_restored(info: StreamInfo | None, saved: Snapshot) -> bool:
    """Whether an interrupted restore has made the stream. Raises `Rejected` for one with messages of its own.

    nats-server shows a stream of which the restore was interrupted, with the messages that it got.
    """
    if info is None:
        return False
    if (info.config.metadata or {}).get(RESTORED_FILE) == saved.sha256 and info.state.last_seq <= saved.last:
        return saved.fits(info.state.last_seq)
    if not info.state.messages:
        return False
    raise Rejected(
        f"stream {info.config.name} of this broker has {info.state.messages:,} messages of its own; restore into an empty "
        "broker: stop the service and move DATA_DIR/nats away, or remove the stream with `nats stream rm`"
    )


def _check_counts(saved: Snapshot, state: dict[str, Any]) -> None:
    """Raises `Unavailable`. What has expired since the backup is not missed."""
    config = saved.config
    is_short = state["messages"] < saved.messages and not config.get("max_age")
    if is_short or not saved.fits(state["last_seq"]):
        raise Unavailable(
            f"stream {config['name']} has {state['messages']:,} messages up to {state['last_seq']:,} and should have "
            f"{saved.messages:,} up to {saved.last:,}; look at the broker's log, remove the stream, and run the command again"
        )
