"""The folder of a backup: a file for each stream, and a manifest with their counts and checksums."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from builder.adapters.nats.snapshot import Snapshot, file_digest
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS
from builder.domain.errors import Rejected

KINDS = (BREADCRUMBS, CONTEXTS, DEADLETTERS)
"""In the order of a backup: CONTEXTS then has the contexts of the triggers in BREADCRUMBS. A restore goes the other way: no
trigger is there before the contexts that keep it from being answered again."""
FILE = "manifest.json"


class SavedStream(BaseModel):
    """A stream of a backup."""

    model_config = ConfigDict(frozen=True)

    file: str
    size: int
    """Bytes."""
    sha256: str
    taken_at: datetime
    config: dict[str, Any]
    """As JSON of the JetStream API; the states too."""
    earliest: dict[str, Any]
    """The stream when the snapshot began."""
    latest: dict[str, Any]
    """The stream when it was written."""

    @property
    def last(self) -> int:
        """Highest sequence that it may have."""
        return int(self.latest["last_seq"])

    @property
    def messages(self) -> int:
        """How many it has at least."""
        return min(int(self.earliest["messages"]), int(self.latest["messages"]))

    def fits(self, last: int) -> bool:
        """Whether a stream that ends at this sequence may be this one."""
        return int(self.earliest["last_seq"]) <= last <= self.last


class Manifest(BaseModel):
    """What a backup holds so far."""

    model_config = ConfigDict(frozen=True)

    installation: str
    incarnation: int
    """Of BREADCRUMBS."""
    streams: dict[str, SavedStream] = {}

    @property
    def is_whole(self) -> bool:
        """Whether it has every stream."""
        return self.streams.keys() >= set(KINDS)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """For people."""
        return [
            {"stream": kind, "messages": each.messages, "last": each.last, "size": each.size, "sha256": each.sha256}
            for kind, each in self.streams.items()
        ]

    def extended(self, kind: str, snapshot: Snapshot, now: datetime) -> "Manifest":
        """With one more stream."""
        config, earliest, latest, size, digest = snapshot
        saved = SavedStream(
            file=file_name(kind), size=size, sha256=digest, taken_at=now, config=config, earliest=earliest, latest=latest
        )
        return self.model_copy(update={"streams": self.streams | {kind: saved}})


def file_name(kind: str) -> str:
    """Of a stream."""
    return f"{kind}.tar.s2"


def unfinished(folder: Path, new: Manifest) -> Manifest:
    """The manifest of an interrupted backup, else the new one. Raises `Rejected`."""
    with folder_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if not (folder / FILE).exists():
        return new
    old = _read(folder)
    if old.is_whole:
        moment = old.streams[BREADCRUMBS].taken_at.astimezone(UTC)
        raise Rejected(f"{folder} holds a backup of {moment:%Y-%m-%d %H:%M:%S}Z; name another folder")
    if (old.installation, old.incarnation) != (new.installation, new.incarnation):
        raise Rejected(f"{folder} holds the beginning of a backup of another stream; name another folder")
    return old


def verified(folder: Path, installation: str) -> Manifest:
    """The manifest of a backup that is whole and undamaged. installation: its name. Raises `Rejected`."""
    manifest = _read(folder)
    if not manifest.is_whole:
        raise Rejected(f"the backup in {folder} was interrupted: run `context-builder backup {folder}` again, or use another one")
    if manifest.installation != installation:
        raise Rejected(
            f"{folder} is a backup of installation {manifest.installation!r}, this one is {installation!r}; "
            "set CONTEXT_BUILDER_NAME"
        )
    for saved in manifest.streams.values():
        with folder_errors(folder):
            digest = file_digest(folder / saved.file)
        if digest != saved.sha256:
            raise Rejected(f"{folder / saved.file} is damaged: its SHA-256 is {digest}, not {saved.sha256}; use another backup")
    return manifest


def write(folder: Path, manifest: Manifest) -> None:
    """At once: after a crash there is the old one or the new one. Raises `Rejected`."""
    partial = folder / f"{FILE}.partial"
    with folder_errors(folder):
        with partial.open("w", encoding="utf-8") as file:
            file.write(manifest.model_dump_json(indent=2))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(folder / FILE)


@contextmanager
def folder_errors(folder: Path) -> Iterator[None]:
    """Raises `Rejected` for what the file system refuses."""
    try:
        yield
    except OSError as error:
        raise Rejected(f"the backup folder {folder} cannot be used: {error}; check its path, rights and disk") from error


def _read(folder: Path) -> Manifest:
    with folder_errors(folder):
        text = (folder / FILE).read_bytes()
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        raise Rejected(f"{folder / FILE} is no manifest of a backup: {error.errors()[0]['msg']}; use another backup") from error
