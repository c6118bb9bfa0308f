"""The stores of tests: each shipped one, empty, and stores by URL with some methods replaced."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from typing_extensions import override

from builder.adapters.sql.store import SqlStore
from builder.adapters.sqlite import SqliteStore
from builder.adapters.sqlite.connection import MEMORY
from builder.app.broker import STORES
from builder.extras.postgres.location import PostgresLocation
from builder.ports.store import CompleteStore, StoreLocation
from tests.postgres import emptied

Method = Callable[..., Any]


class DurableStore(SqliteStore):
    """A store of the kind that the service uses, empty and without a file; tests replace methods of it."""

    def __init__(self) -> None:
        super().__init__(MEMORY)


def durable_store() -> DurableStore:
    """An empty store of the kind that the service uses, without a file; its thread ends with it."""
    return DurableStore()


def shared_store() -> SqlStore:
    """An empty store in this process's PostgreSQL; close it before the next one is made."""
    return PostgresLocation(emptied()).open_store()


class ChangedLocation(StoreLocation):
    """A location whose open stores have other methods."""

    def __init__(self, inner: StoreLocation, changes: Mapping[str, Callable[[Method], Method]]) -> None:
        """changes: name → the real method → the method in its place."""
        self._inner = inner
        self._changes = changes

    @property
    @override
    def name(self) -> str:
        return self._inner.name

    @override
    async def exists(self) -> bool:
        return await self._inner.exists()

    @override
    @asynccontextmanager
    async def open(self) -> AsyncIterator[CompleteStore]:
        async with self._inner.open() as store:
            for name, change in self._changes.items():
                setattr(store, name, change(getattr(store, name)))
            yield store

    @override
    def alone(self) -> AbstractAsyncContextManager[StoreLocation]:
        return self._inner.alone()

    @override
    def rebuild(self) -> AbstractAsyncContextManager[tuple[StoreLocation | None, StoreLocation]]:
        return self._inner.rebuild()


def changed_stores(**changes: Callable[[Method], Method]) -> Mapping[str, Callable[[str], StoreLocation]]:
    """The shipped stores by scheme, each with these methods: the real method → the method in its place."""

    def locate(url: str) -> StoreLocation:
        return ChangedLocation(STORES[url.partition(":")[0]](url), changes)

    return dict.fromkeys(STORES, locate)
