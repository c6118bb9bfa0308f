"""Every store that there is: one suite for all of them."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from builder.adapters.sql.store import SqlStore
from builder.adapters.sqlite import SqliteLocation, SqliteStore
from builder.client import Client, connect
from builder.extras.postgres.location import PostgresLocation
from builder.ports.store import StoreLocation
from builder.testing import memory_client
from tests.clients import PROFILES
from tests.postgres import new_database
from tests.running import Running
from tests.stores import durable_store, shared_store


@pytest.fixture(params=["sqlite in memory", "sqlite on disk", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    opened: SqlStore
    match request.param:
        case "sqlite in memory":
            opened = durable_store()
        case "postgres":
            opened = shared_store()
        case _:
            opened = SqliteStore(str(tmp_path / "store.db"))
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite on disk", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> StoreLocation:
    """A location that keeps its store, without one."""
    if request.param == "postgres":
        return PostgresLocation(new_database("locations"))
    return SqliteLocation(str(tmp_path / "folder" / "store.db"))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The service as a process, without an engine."""
    folder = tmp_path_factory.mktemp("contract")
    (folder / "templates" / "profiles").mkdir(parents=True)
    for name, text in PROFILES.items():
        (folder / "templates" / "profiles" / f"{name}.yaml").write_text(text, "utf-8")
    with Running(folder / "data", templates_dir=folder / "templates", embedding__engine="none") as running:
        yield running


@pytest.fixture(params=["real", "memory"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    workspace = f"w{uuid4().hex[:12]}"
    if request.param == "memory":
        async with memory_client(profiles=PROFILES, workspace=workspace) as client:
            yield client
    else:
        async with connect(request.getfixturevalue("service").url, workspace) as client:
            yield client
