"""The embedded store: one SQLite file (apsw, WAL, float16 vectors)."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import apsw
from typing_extensions import override

from builder.adapters.sql.store import SqlStore
from builder.adapters.sqlite.connection import DAMAGE, MEMORY, SqliteConnection
from builder.domain.errors import Misconfigured
from builder.ports.store import CompleteStore, StoreLocation

__all__ = ["SqliteLocation", "SqliteStore"]


log = logging.getLogger("builder.store")


class SqliteStore(SqlStore):
    """One SQLite file; `Unavailable` when busy for ten seconds."""

    def __init__(self, path: str) -> None:
        """path: a file or MEMORY. Raises `Misconfigured`."""
        super().__init__(SqliteConnection(path))


class SqliteLocation(StoreLocation):
    """A file, or MEMORY: a store that lives while it is open."""

    def __init__(self, path: str) -> None:
        self._path = MEMORY if path == MEMORY else str(Path(path).expanduser())

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
        store = SqliteStore(self._path)
        try:
            yield store
        finally:
            store.close()

    @override
    async def rebuild(self) -> StoreLocation:
        if self._path == MEMORY:
            raise Misconfigured("a store in memory is never rebuilt; set CONTEXT_BUILDER_STORE__URL to sqlite:PATH")
        path = Path(self._path)
        if reason := _damage(path):
            aside = f"{path.stem}-damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{path.suffix}"
            _remove(path, aside)
            log.warning("the store %s is damaged (%s); its files are kept as %s", path, reason, path.with_name(aside))
        fresh = f"{self._path}.reindex"
        _remove(Path(fresh))
        return SqliteLocation(fresh)

    @override
    async def replace(self, rebuilt: StoreLocation) -> None:
        path = Path(self._path)
        _damage(path)  # a service that was started meanwhile would go on in a file without a name
        _remove(path)
        Path(rebuilt.name).replace(path)


def _remove(path: Path, aside: str = "") -> None:
    try:
        for suffix in ("", "-wal", "-shm"):
            part = path.with_name(path.name + suffix)
            if aside and part.exists():
                part.rename(path.with_name(aside + suffix))
            part.unlink(missing_ok=True)
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
