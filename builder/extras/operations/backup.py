"""Backup of the streams. The store is made from them, so a backup holds none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from nats.aio.client import Client
from nats.js import JetStreamContext

from builder.adapters.nats.connection import optional
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, all_breadcrumbs, incarnation_of, refuse_restoring
from builder.app.address import configured_servers, running
from builder.app.broker import connected, open_bus
from builder.app.settings import Settings
from builder.connection.names import Installation
from builder.domain.errors import Rejected, Unavailable
from builder.extras.operations.backup_folder import (
    KINDS,
    Manifest,
    Progress,
    alone_in,
    begin,
    folder_errors,
    stream_file,
    write_manifest,
)
from builder.extras.operations.removals import is_stale
from builder.extras.operations.snapshot import take_snapshot

SETTLE_SECONDS = 30.0
"""How long a backup waits for the contexts of the triggers that it holds."""
LOOK_SECONDS = 0.05
ROUNDS = 5
"""As often a stream is saved while something is erased each time."""


async def back_up(settings: Settings, servers: str, folder: Path, progress: Progress) -> dict[str, Any]:
    """Write the streams to a folder, beside the running service; an interrupted backup goes on with the stream where it was.

    What was erased before it ends is in no file: a stream that has lost something since is saved again.

    servers: "" = those of the settings. progress: bytes of a stream. Raises `Rejected` for a folder that cannot be used or holds
    another backup, `Unavailable`, `Misconfigured`.
    """
    own = settings.installation
    with alone_in(folder):
        async with open_broker(settings, servers) as connection:
            info = await optional("looking at the stream", connection.jetstream().stream_info(own.stream(BREADCRUMBS)))
            if info is None:
                raise Rejected(
                    f"this broker has no stream {own.stream(BREADCRUMBS)}; check CONTEXT_BUILDER_NATS__SERVERS and "
                    "CONTEXT_BUILDER_NAME"
                )
            refuse_restoring(info)
            manifest = begin(folder, Manifest(installation=own.name, incarnation=incarnation_of(info)))
            manifest, unsettled = await _save(connection, own, folder, manifest, progress)
    return {"folder": str(folder), "streams": manifest.rows, "unsettled": unsettled}


async def _save(
    connection: Client, own: Installation, folder: Path, manifest: Manifest, progress: Progress
) -> tuple[Manifest, int]:
    """The manifest of the whole backup, and how many messages no worker has settled. Raises `Unavailable` after ROUNDS."""
    js, unsettled = connection.jetstream(), 0
    manifest = await _without_stale(js, own, folder, manifest)
    for _ in range(ROUNDS):
        for kind in (each for each in KINDS if each not in manifest.streams):
            if kind == CONTEXTS:
                unsettled = await _settled(js, own, manifest.streams[BREADCRUMBS].last)
            with folder_errors(folder):
                snapshot = await take_snapshot(connection, own.stream(kind), stream_file(folder, kind), progress)
            manifest = manifest.model_copy(update={"streams": manifest.streams | {kind: snapshot}})
            if not manifest.is_whole:  # it is not before the last look
                write_manifest(folder, manifest)
        manifest = await _without_stale(js, own, folder, manifest)
        if manifest.is_whole:
            write_manifest(folder, manifest)
            return manifest, unsettled
    raise Unavailable(
        f"something was erased each of the {ROUNDS} times that the streams were saved; run `context-builder backup {folder}` "
        "again when nobody forgets or purges"
    )


async def _without_stale(js: JetStreamContext, own: Installation, folder: Path, manifest: Manifest) -> Manifest:
    """The streams before the first one that has lost something since it was saved; the files of the others are removed."""
    for number, kind in enumerate(KINDS):
        if kind not in manifest.streams or not await is_stale(js, own, kind, manifest.streams[kind]):
            continue
        earlier = {name: each for name, each in manifest.streams.items() if name in KINDS[:number]}
        manifest = manifest.model_copy(update={"streams": earlier})
        write_manifest(folder, manifest)
        break
    return manifest


@asynccontextmanager
async def open_broker(settings: Settings, servers: str) -> AsyncIterator[Client]:
    """That of the settings or of the running service, else the embedded one, which runs for the block."""
    service = running(settings)
    if address := servers or configured_servers(settings) or (service.nats if service else ""):
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
