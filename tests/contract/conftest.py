"""Every store that there is: one suite for all of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.adapters.memory import MemoryLocation, MemoryStore
from builder.adapters.sqlite import SqliteLocation, SqliteStore
from builder.ports.store import StoreLocation
from tests.stores import AnyStore, durable_store


@pytest.fixture(params=["memory", "sqlite in memory", "sqlite on disk"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyStore]:
    """Opened and empty."""
    opened: AnyStore
    match request.param:
        case "memory":
            opened = MemoryStore()
        case "sqlite in memory":
            opened = durable_store()
        case _:
            opened = SqliteStore(str(tmp_path / "store.db"))
    yield opened
    opened.close()


@pytest.fixture(params=["memory", "sqlite on disk"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> StoreLocation:
    """A location that keeps its store, without one."""
    return MemoryLocation("memory:test") if request.param == "memory" else SqliteLocation(str(tmp_path / "folder" / "store.db"))
