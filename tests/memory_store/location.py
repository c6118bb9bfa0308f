"""Where a memory store is: in the process, for as long as its location lives."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from typing_extensions import override

from builder.domain.errors import Misconfigured
from builder.ports.store import CompleteStore, StoreLocation
from tests.memory_store.store import MemoryStore


class MemoryLocation(StoreLocation):
    """Holds one store, which keeps its breadcrumbs between two openings."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.store: MemoryStore | None = None
        """None until the location is opened."""
        self._is_open = False

    @property
    @override
    def name(self) -> str:
        return self._name

    @override
    async def exists(self) -> bool:
        return self.store is not None

    @override
    @asynccontextmanager
    async def open(self) -> AsyncIterator[CompleteStore]:
        self.store = self.store or self.make()
        self._is_open = True
        try:
            yield self.store
        finally:
            self._is_open = False

    def make(self) -> MemoryStore:
        """An empty store."""
        return MemoryStore()

    @override
    async def rebuild(self) -> StoreLocation:
        self._check_unused()
        return type(self)(f"{self._name}.reindex")

    @override
    async def replace(self, rebuilt: StoreLocation) -> None:
        self._check_unused()
        if isinstance(rebuilt, MemoryLocation):
            self.store = rebuilt.store

    def _check_unused(self) -> None:
        if self._is_open:
            raise Misconfigured(f"the store {self._name} is in use; stop the service, then try again")
