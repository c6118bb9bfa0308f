"""Restore of the streams of a backup: until they are whole they take no message, and no service works on them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from nats.aio.client import Client
from nats.js.api import StreamInfo

from builder.adapters.nats.connection import optional
from builder.adapters.nats.topology import RESTORED_AT, RESTORED_FILE, RESTORED_FROM, RESTORING
from builder.app.address import running
from builder.app.broker import locate_store
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured, Rejected, Unavailable
from builder.extras.operations.backup import open_broker
from builder.extras.operations.backup_folder import KINDS, Manifest, Progress, folder_errors, stream_file, verified
from builder.extras.operations.snapshot import Snapshot, change_stream, restore_durables, restore_snapshot


async def restore(settings: Settings, servers: str, folder: Path, progress: Progress) -> dict[str, Any]:
    """Make the streams of a backup; an interrupted restore goes on with the stream where it was, a finished one changes nothing.

    servers, progress: as for `back_up`. Raises `Rejected` for a backup that is damaged or not whole and for a stream with
    messages of its own, `Misconfigured` while the service runs, `Unavailable`.
    """
    manifest = verified(folder, settings.installation.name)
    if service := running(settings):
        raise Misconfigured(f"the service of process {service.pid} runs; stop every worker, then run the command again")
    async with locate_store(settings).alone(), open_broker(settings, servers) as connection:
        run = _Run(settings, connection, folder, manifest, progress)
        return {"folder": str(folder), "streams": manifest.rows, "restored": await run.restore()}


class _Run:
    def __init__(self, settings: Settings, connection: Client, folder: Path, manifest: Manifest, progress: Progress) -> None:
        self._connection, self._folder, self._progress = connection, folder, progress
        self._js, self._installation, self._replicas = connection.jetstream(), settings.installation, settings.nats.replicas
        self._saved = {kind: manifest.streams[kind] for kind in reversed(KINDS)}
        at = f"{datetime.now(UTC).timestamp() * 1_000_000:.0f}"
        self._marks = {RESTORED_FROM: str(manifest.incarnation), RESTORED_AT: at}
        self._name = uuid4().hex
        """Of this run: another one that takes over writes its own."""

    async def restore(self) -> list[str]:
        """The kinds of the streams whose messages it has made."""
        present = {kind: await self._info(kind) for kind in self._saved}
        unfinished = [kind for kind, saved in self._saved.items() if not _is_restored(present[kind], saved)]
        for kind, info in present.items():
            if unfinished and kind not in unfinished and info and info.state.last_seq > self._saved[kind].last:
                raise _own_messages(info)  # it has gone on without the others
        missing = [kind for kind in unfinished if not _is_transferred(present[kind], self._saved[kind])]
        for kind in unfinished:
            await self._close(kind, present[kind])
        for kind in missing:
            await self._transfer(kind)
        for kind in unfinished:
            await restore_durables(self._connection, self._saved[kind])
        for kind in unfinished:  # BREADCRUMBS last: with it everything is whole
            await self._open(kind)
        return missing

    async def _info(self, kind: str) -> StreamInfo | None:
        return await optional("looking at the streams", self._js.stream_info(self._installation.stream(kind)))

    async def _close(self, kind: str, info: StreamInfo | None) -> None:
        """Let a stream that is there take no message, under this run's mark. Raises `Rejected` if one came just now."""
        if info is None:
            return
        stream, metadata = self._installation.stream(kind), dict(info.config.metadata or {})
        await change_stream(self._connection, stream, self._closed(kind) | {"metadata": metadata | {RESTORING: self._name}})
        now = await self._info(kind)
        if RESTORING not in metadata and now and now.state.messages:
            await change_stream(self._connection, stream, {"subjects": info.config.subjects, "metadata": metadata})
            raise _own_messages(now)

    async def _transfer(self, kind: str) -> None:
        await optional("removing an empty stream", self._js.delete_stream(self._installation.stream(kind)))
        saved, file = self._saved[kind], stream_file(self._folder, kind)
        metadata = (saved.config.get("metadata") or {}) | self._marks | {RESTORED_FILE: saved.sha256, RESTORING: self._name}
        changes = self._closed(kind) | {"num_replicas": self._replicas, "metadata": metadata}
        with folder_errors(self._folder):
            state = await restore_snapshot(self._connection, saved, changes, file, self._progress)
        if not _has_all(saved, state["messages"], state["last_seq"]):
            raise Unavailable(
                f"stream {saved.config['name']} has {state['messages']:,} messages up to {state['last_seq']:,} and should have "
                f"{saved.messages:,} up to {saved.last:,}; look at the broker's log, and run the command again"
            )

    def _closed(self, kind: str) -> dict[str, Any]:
        return {"subjects": [self._installation.subject(f"restoring.{kind}")]}

    async def _open(self, kind: str) -> None:
        info, saved = await self._info(kind), self._saved[kind]
        metadata = dict((info.config.metadata if info else None) or {})
        if metadata.pop(RESTORING, "") != self._name:
            raise Unavailable(f"another `context-builder restore` works on stream {saved.config['name']}; let it end")
        changes = {"subjects": saved.config["subjects"], "metadata": metadata}
        await change_stream(self._connection, self._installation.stream(kind), changes)


def _is_restored(info: StreamInfo | None, saved: Snapshot) -> bool:
    """Whether a restore of this backup has ended with the stream, which may have gone on since.

    Raises `Rejected` for one with messages of its own.
    """
    metadata = (info.config.metadata if info else None) or {}
    if info is None or RESTORING in metadata:
        return False
    if metadata.get(RESTORED_FILE) == saved.sha256 and info.state.last_seq >= int(saved.earliest["last_seq"]):
        return True
    if info.state.messages:
        raise _own_messages(info)
    return False


def _is_transferred(info: StreamInfo | None, saved: Snapshot) -> bool:
    """Whether an interrupted restore has sent the whole file: nobody else could add a message since.

    nats-server shows a stream of which the restore was interrupted, with the messages that it got.
    """
    metadata = (info.config.metadata if info else None) or {}
    is_same = RESTORING in metadata and metadata.get(RESTORED_FILE) == saved.sha256
    return is_same and info is not None and _has_all(saved, info.state.messages, info.state.last_seq)


def _has_all(saved: Snapshot, messages: int, last: int) -> bool:
    """What has expired since the backup is not missed."""
    return saved.fits(last) and (messages >= saved.messages or bool(saved.config.get("max_age")))


def _own_messages(info: StreamInfo) -> Rejected:
    return Rejected(
        f"stream {info.config.name} of this broker has {info.state.messages:,} messages of its own; restore into an empty "
        "broker: stop the service and move DATA_DIR/nats away, or remove the stream with `nats stream rm`"
    )
