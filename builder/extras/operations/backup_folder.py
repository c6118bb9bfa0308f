"""The folder of a backup: a file for each stream, and a manifest that says what is whole."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS
from builder.domain.errors import Misconfigured, Rejected
from builder.extras.operations.snapshot import Snapshot, digest

if sys.platform != "win32":
    import fcntl

KINDS = (BREADCRUMBS, CONTEXTS, DEADLETTERS)
"""In the order of a backup: CONTEXTS then has the contexts of the triggers in BREADCRUMBS. A restore goes the other way: no
trigger is there before the contexts that keep it from being answered again."""
MANIFEST = "manifest.json"
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


def stream_file(folder: Path, kind: str) -> Path:
    """Of one stream."""
    return folder / f"{kind}.tar.s2"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Make the folder where it is missing; nobody else writes a backup into it during the block.

    Raises `Rejected`, and `Misconfigured` while somebody else does.
    """
    with folder_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    with folder_errors(folder):
        own = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(own)
        raise Misconfigured(
            f"another `context-builder backup` writes into {folder}; let it end, or name another folder"
        ) from error
    try:
        yield
    finally:
        os.close(own)


def begin(folder: Path, new: Manifest) -> Manifest:
    """The manifest of an interrupted backup, else the new one. Raises `Rejected`."""
    if not (folder / MANIFEST).exists():
        return new
    old = read_manifest(folder)
    if old.is_whole or (old.installation, old.incarnation) != (new.installation, new.incarnation):
        what = "a finished backup" if old.is_whole else "the beginning of a backup of another stream"
        raise Rejected(f"{folder} holds {what}; name another folder")
    return old


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """In one step; files that it does not name are removed. Raises `Rejected`."""
    with folder_errors(folder):
        partial = folder / f"{MANIFEST}.partial"
        partial.write_text(manifest.model_dump_json(indent=2), "utf-8")
        partial.replace(folder / MANIFEST)
        for kind in (each for each in KINDS if each not in manifest.streams):
            for file in folder.glob(f"{stream_file(folder, kind).name}*"):
                file.unlink()


def verified(folder: Path, installation: str) -> Manifest:
    """The manifest of a backup that is whole and undamaged. installation: its name. Raises `Rejected`."""
    manifest = read_manifest(folder)
    if not manifest.is_whole:
        raise Rejected(f"the backup in {folder} was interrupted: run `context-builder backup {folder}` again, or use another one")
    if manifest.installation != installation:
        raise Rejected(
            f"{folder} is a backup of installation {manifest.installation!r}, this one is {installation!r}; "
            "set CONTEXT_BUILDER_NAME"
        )
    with folder_errors(folder):
        damaged = [kind for kind, saved in manifest.streams.items() if digest(stream_file(folder, kind)) != saved.sha256]
    if damaged:
        raise Rejected(
            f"{stream_file(folder, damaged[0])} is damaged: its SHA-256 is not that of the manifest; use another backup"
        )
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """Raises `Rejected`."""
    with folder_errors(folder):
        text = (folder / MANIFEST).read_bytes()
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        raise Rejected(
            f"{folder / MANIFEST} is no manifest of a backup: {error.errors()[0]['msg']}; use another backup"
        ) from error


@contextmanager
def folder_errors(folder: Path) -> Iterator[None]:
    """Raises `Rejected` for what the file system refuses."""
    try:
        yield
    except OSError as error:
        raise Rejected(f"the backup folder {folder} cannot be used: {error}; check its path, rights and disk") from error
