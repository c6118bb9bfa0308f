"""Where a SQLite store is: a file, or the memory of the process."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from typing_extensions import override

from builder.adapters.sqlite.connection import MEMORY, damage, remove
from builder.adapters.sqlite.store import SqliteStore
from builder.domain.errors import Misconfigured
from builder.ports.store import CompleteStore, StoreLocation

log = logging.getLogger("builder.store")


class SqliteLocation(StoreLocation):
    """A file, or MEMORY: a store that is empty when it is opened and gone when it is closed."""

    def __init__(self, path: str) -> None:
        """path: of the file, relative to the working directory or absolute, or MEMORY."""
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
        if reason := damage(path):
            aside = f"{path.stem}-damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{path.suffix}"
            remove(path, aside)
            log.warning("the store %s is damaged (%s); its files are kept as %s", path, reason, path.with_name(aside))
        fresh = f"{self._path}.reindex"
        remove(Path(fresh))
        return SqliteLocation(fresh)

    @override
    async def replace(self, rebuilt: StoreLocation) -> None:
        path = Path(self._path)
        damage(path)  # a service that was started meanwhile would go on in a file without a name
        remove(path)
        Path(rebuilt.name).replace(path)
