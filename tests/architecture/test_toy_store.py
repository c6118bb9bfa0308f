"""A store is added through the public seam alone: a scheme, a location, and the ports."""

import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from typing_extensions import override

from builder.app.broker import STORES, locate_store, location
from builder.app.components import Parts, open_components
from builder.app.settings import EmbeddingSettings, Settings, StoreSettings
from builder.domain.errors import Misconfigured
from builder.ports.store import CompleteStore, StoreLocation
from tests.factories import make_breadcrumb
from tests.stores import DurableStore

ROOT = Path(__file__).resolve().parents[2]


class ToyStore(DurableStore):
    """A store of somebody else."""


class ToyLocation(StoreLocation):
    """Where a toy store is; it keeps its breadcrumbs between two openings."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._store = ToyStore()

    @property
    @override
    def name(self) -> str:
        return self._url

    @override
    async def exists(self) -> bool:
        return True

    @override
    @asynccontextmanager
    async def open(self) -> AsyncIterator[CompleteStore]:
        yield self._store

    @override
    @asynccontextmanager
    async def alone(self) -> AsyncIterator[StoreLocation]:
        yield self

    @override
    def rebuild(self) -> AbstractAsyncContextManager[tuple[StoreLocation | None, StoreLocation]]:
        raise Misconfigured(f"the store {self._url} is never rebuilt")


async def test_a_toy_store_is_opened_by_its_url_and_builds_a_context(tmp_path: Path) -> None:
    locations: dict[str, ToyLocation] = {}
    parts = Parts(stores={**STORES, "toy": lambda url: locations.setdefault(url, ToyLocation(url))})
    settings = Settings(data_dir=tmp_path, store=StoreSettings(url="toy:shop"), embedding=EmbeddingSettings(engine="none"))
    async with open_components(settings, parts=parts) as core:
        assert isinstance(core.store, ToyStore)
        for sequence, text in enumerate(("The kiln is K-4711.", "Which kiln is it?"), 1):
            trigger = make_breadcrumb(text, sequence)
            await core.builder.remember(trigger)
        (context,) = (await core.builder.build(trigger, core.builder.consumers(trigger))).contexts
    assert "The kiln is K-4711." in context.markdown
    async with locations["toy:shop"].open() as store:
        assert await store.count() == 2


@pytest.mark.parametrize(("url", "reason"), [("mysql://host/db", "begins with 'mysql'"), ("store.db", "has no scheme")])
def test_an_unknown_scheme_is_refused_with_the_known_ones(url: str, reason: str) -> None:
    with pytest.raises(Misconfigured, match=f"CONTEXT_BUILDER_STORE__URL {reason}; the schemes are postgresql:, sqlite: as in"):
        location(url)


def test_the_default_is_a_file_in_the_data_folder(tmp_path: Path) -> None:
    assert locate_store(Settings(data_dir=tmp_path)).name == str(tmp_path / "store.sqlite3")


@pytest.mark.parametrize(("path", "name"), [("a/b.db", "a/b.db"), ("/a/b.db", "/a/b.db"), ("///a/b.db", "/a/b.db")])
def test_a_path_is_relative_or_absolute(path: str, name: str) -> None:
    assert location(f"sqlite:{path}").name == name


def test_only_the_adapter_its_tests_and_the_table_of_stores_name_the_sqlite_store() -> None:
    files = {file.relative_to(ROOT).as_posix() for folder in ("builder", "tests") for file in (ROOT / folder).rglob("*.py")}
    naming = {file for file in files if re.search(r"\bSqlite\w+", (ROOT / file).read_text("utf-8"))}
    assert {file for file in naming if not file.startswith(("builder/adapters/sqlite/", "tests/contract/"))} == {
        "builder/app/broker.py",
        "tests/architecture/test_ports.py",
        "tests/integration/test_migrating_stores.py",
        "tests/stores.py",
        "tests/unit/adapters/sqlite/test_connection.py",
        "tests/unit/adapters/sqlite/test_connection_full_disk.py",
        "tests/unit/adapters/sqlite/test_remnants.py",
    }
