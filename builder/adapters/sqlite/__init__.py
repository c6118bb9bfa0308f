"""The embedded store: one SQLite file (apsw, WAL, float16 vectors)."""

import glob
import logging
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import apsw
from typing_extensions import override

from builder.adapters.sql.copying import refuse_unfinished
from builder.adapters.sql.store import SqlStore
from builder.adapters.sqlite.connection import DAMAGE, MEMORY, SqliteConnection
from builder.adapters.sqlite.lock import locked
from builder.domain.errors import Misconfigured, Unavailable
from builder.ports.store import CompleteStore, StoreLocation

__all__ = ["SqliteLocation", "SqliteStore"]


log = logging.getLogger("builder.store")

REBUILT = ".reindex"
"""In the names of the files of a rebuild; a run's own name follows."""
LOGS = ("-wal", "-shm")


class SqliteStore(SqlStore):
    """One SQLite file; `Unavailable` when busy for ten seconds."""

    def __init__(self, path: str) -> None:
        """path: a file or MEMORY. Raises `Misconfigured`."""
        super().__init__(SqliteConnection(path))


class SqliteLocation(StoreLocation):
    """A file, or MEMORY: a store that lives while it is open."""

    def __init__(self, path: str, *, is_held: bool = False) -> None:
        """is_held: this process has the store alone."""
        self._path = MEMORY if path == MEMORY else str(Path(path).expanduser())
        self._is_held = is_held

    @classmethod
    def from_url(cls, url: str) -> "SqliteLocation":
        """The location of `sqlite:PATH`. Raises `Misconfigured` without a path."""
        path = url.partition(":")[2]
        if not path.strip("/"):
            raise Misconfigured(f"the store {url!r} names no file; write sqlite:PATH")
        return cls(path)

    @property
    @override
    def name(self) -> str:
        return self._path

    @override
    async def exists(self) -> bool:
        return self._path != MEMORY and Path(self._path).exists()

    @override
    @asynccontextmanager
    async def open(self) -> AsyncIterator[CompleteStore]:
        with self._sharing():
            store = SqliteStore(self._path)
            try:
                await self._check(store)
                yield store
            finally:
                store.close()

    async def _check(self, store: SqliteStore) -> None:
        if self._is_held:
            return
        try:
            await refuse_unfinished(store.connection, self.name)
        except Unavailable as error:  # the first page is whole, and what follows is not
            raise Misconfigured(str(error)) from error

    @override
    @asynccontextmanager
    async def alone(self) -> AsyncIterator[StoreLocation]:
        with nullcontext() if self._path == MEMORY else locked(Path(self._path), alone=True):
            yield SqliteLocation(self._path, is_held=True)

    @override
    @asynccontextmanager
    async def rebuild(self) -> AsyncIterator[tuple[StoreLocation | None, StoreLocation]]:
        if self._path == MEMORY:
            raise Misconfigured("a store in memory is never rebuilt; set CONTEXT_BUILDER_STORE__URL to sqlite:PATH")
        path = Path(self._path)
        fresh = path.with_name(f"{path.name}{REBUILT}-{uuid4().hex[:8]}")
        async with self.alone() as own:
            _sweep(path)
            damage = _damage(path)
            try:
                yield (own if path.exists() and not damage else None), SqliteLocation(str(fresh), is_held=True)
                _replace(path, fresh, damage)
            finally:
                _remove(fresh)

    @contextmanager
    def _sharing(self) -> Iterator[None]:
        """Nobody maintains the store during the block, and what a maintenance that ended early has left beside it is removed."""
        path = Path(self._path)
        if self._is_held or self._path == MEMORY:
            yield
            return
        with locked(path, alone=False):
            _sweep(path)
            yield


def _replace(path: Path, fresh: Path, damage: str) -> None:
    """Put a closed store in the place of another, in one step: at no moment there is none. damage: of the other one."""
    if not fresh.exists():
        raise Misconfigured(f"the rebuilt store {fresh} is gone; run `context-builder reindex` again")
    _write_out(fresh)
    if damage:
        aside = path.with_name(f"{path.stem}-damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{path.suffix}")
        _set_aside(path, aside)
        log.warning("the store %s is damaged (%s); its files are kept as %s", path, damage, aside)
    elif path.exists():
        _damage(path)  # who opened it without the lock would go on in a file without a name
        _write_out(path)  # else the new file would find the old one's log
    with _writing(path):
        fresh.replace(path)


def _write_out(store: Path) -> None:
    """Write the log of a closed store into its file, which is moved without it. Raises `Unavailable` where that fails."""
    try:
        with closing(apsw.Connection(str(store))) as sql:
            ((is_busy, *_),) = sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except apsw.Error as error:
        raise Unavailable(f"the store {store} failed: {error}; check the disk, then run the command again") from error
    if is_busy:
        raise Misconfigured(f"the store {store} is in use; stop what reads it, then run the command again")


def _set_aside(path: Path, aside: Path) -> None:
    with _writing(path):
        for suffix in LOGS:  # of the damaged file: the new one must not find them
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.rename(aside.with_name(aside.name + suffix))
        try:
            aside.hardlink_to(path)
        except OSError:  # no such links on this file system
            shutil.copy2(path, aside)


def _sweep(path: Path) -> None:
    """Remove what rebuilds that were killed have left. Nobody rebuilds the store now."""
    for each in path.parent.glob(f"{glob.escape(path.name)}{REBUILT}*"):
        with _writing(path):
            each.unlink(missing_ok=True)


def _remove(path: Path) -> None:
    with _writing(path):
        for suffix in ("", *LOGS):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Misconfigured(f"{path.parent} cannot be written: {error.strerror}; check its rights and its disk") from error


def _damage(path: Path) -> str:
    if not path.exists():
        return ""
    connection = apsw.Connection(str(path))
    try:
        # In WAL mode an exclusive lock is only given to the file's one user.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
        (answer,) = next(connection.execute("PRAGMA quick_check(1)"))
    except apsw.BusyError as error:
        raise Misconfigured(f"the store {path} is in use; stop the service, then run `context-builder reindex` again") from error
    except DAMAGE as error:
        return str(error)
    except apsw.Error as error:
        raise Misconfigured(f"the store {path} cannot be opened for writing: {error}; check its rights and its disk") from error
    finally:
        connection.close()
    return "" if answer == "ok" else str(answer)
