"""The folder of a backup: a file for each stream, and a manifest with their counts and checksums."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from builder.adapters.nats.snapshot import Snapshot
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS
from builder.domain.errors import Rejected

KINDS = (BREADCRUMBS, CONTEXTS, DEADLETTERS)
"""In the order of a backup: CONTEXTS then has the contexts of the triggers in BREADCRUMBS. A restore goes the other way: no
trigger is there before the contexts that keep it from being answered again."""
FILE = "manifest.json"


class SavedStream(BaseModel, frozen=True):
    """A stream of a backup."""

    sha256: str
    """Of its file, in hexadecimal digits."""
    taken_at: datetime
    snapshot: Snapshot

    @property
    def last(self) -> int:
        """Highest sequence that it may have."""
        return int(self.snapshot.latest["last_seq"])

    @property
    def messages(self) -> int:
        """How many it has at least."""
        return min(int(self.snapshot.earliest["messages"]), int(self.snapshot.latest["messages"]))

    def fits(self, last: int) -> bool:
        """Whether a stream that ends at this sequence may be this one."""
        return int(self.snapshot.earliest["last_seq"]) <= last <= self.last


class Manifest(BaseModel, frozen=True):
    """What a backup holds so far."""

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
        return [{"stream": kind, "messages": each.messages, "last": each.last} for kind, each in self.streams.items()]


def file_of(folder: Path, kind: str) -> Path:
    """Of a stream."""
    return folder / f"{kind}.tar.s2"


def extended(folder: Path, manifest: Manifest, kind: str, snapshot: Snapshot) -> Manifest:
    """Note a stream whose file is whole. Raises `Rejected`."""
    with folder_errors(folder):
        saved = SavedStream(sha256=_digest(folder, kind), taken_at=datetime.now(UTC), snapshot=snapshot)
        longer = manifest.model_copy(update={"streams": manifest.streams | {kind: saved}})
        partial = folder / f"{FILE}.partial"
        partial.write_text(longer.model_dump_json(indent=2), "utf-8")
        partial.replace(folder / FILE)
    return longer


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
    for kind, saved in manifest.streams.items():
        with folder_errors(folder):
            digest = _digest(folder, kind)
        if digest != saved.sha256:
            raise Rejected(f"{file_of(folder, kind)} is damaged: its SHA-256 is {digest}, not {saved.sha256}; use another backup")
    return manifest


@contextmanager
def folder_errors(folder: Path) -> Iterator[None]:
    """Raises `Rejected` for what the file system refuses."""
    try:
        yield
    except OSError as error:
        raise Rejected(f"the backup folder {folder} cannot be used: {error}; check its path, rights and disk") from error


def _digest(folder: Path, kind: str) -> str:
    with file_of(folder, kind).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _read(folder: Path) -> Manifest:
    with folder_errors(folder):
        text = (folder / FILE).read_bytes()
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        raise Rejected(f"{folder / FILE} is no manifest of a backup: {error.errors()[0]['msg']}; use another backup") from error
