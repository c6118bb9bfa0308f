"""Which engine may open which store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from builder.app.broker import locate_store
from builder.app.components import open_components
from builder.app.settings import EmbeddingSettings, Settings
from builder.domain.errors import Misconfigured, Unavailable
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import CompleteStore, StoreLocation
from tests.factories import bare, make_remembered
from tests.models import prepared


@pytest.fixture(scope="module", autouse=True)
def _model() -> None:
    prepared()


async def opened(folder: Path, engine: str, *rows: StoredBreadcrumb) -> str:
    """The model of the engine that opened a store with these rows."""
    mine = Settings(data_dir=folder, embedding=EmbeddingSettings.model_validate({"engine": engine}))
    async with locate_store(mine).open() as store:
        for row in rows:
            await store.remember(row)
    async with open_components(mine) as core:
        return core.embedder.model


async def test_a_store_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"holds vectors of hashing/test/000000, the engine is all-MiniLM-L6-v2/int8/"):
        await opened(tmp_path, "onnx", make_remembered(), bare(make_remembered(sequence=2)))


async def test_a_store_that_only_lacks_vectors_is_anybody_s(tmp_path: Path) -> None:
    assert await opened(tmp_path, "onnx", bare(make_remembered())) == prepared().model


async def test_without_an_engine_any_store_will_do_and_stays_what_it_was(tmp_path: Path) -> None:
    assert await opened(tmp_path, "none", make_remembered()) == "none"
    with pytest.raises(Misconfigured, match="holds vectors of hashing"):
        await opened(tmp_path, "onnx")


async def test_a_store_that_was_begun_without_an_engine_takes_one_later(tmp_path: Path) -> None:
    assert await opened(tmp_path, "none", bare(make_remembered()), bare(make_remembered("", 2))) == "none"
    assert await opened(tmp_path, "onnx") == prepared().model


class StartingLocation:
    """A store whose server starts: it can be reached at the third attempt."""

    def __init__(self, location: StoreLocation) -> None:
        self._location = location
        self.attempts = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[CompleteStore]:
        self.attempts += 1
        if self.attempts < 3:
            raise Unavailable("the database system is starting up")
        async with self._location.open() as store:
            yield store


@pytest.mark.parametrize("waits", [True, False])
async def test_a_service_waits_for_its_store_and_a_command_does_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, waits: bool
) -> None:
    mine = Settings(data_dir=tmp_path, embedding=EmbeddingSettings(engine="none"))
    starting = StartingLocation(locate_store(mine))
    opening = open_components(mine, cast("StoreLocation", starting), waits=waits)
    if not waits:
        with pytest.raises(Unavailable, match="starting up"):
            await opening.__aenter__()
        return
    async with opening as core:
        assert core.embedder.model == "none"
    assert starting.attempts == 3
    assert "the start waits: the database system is starting up" in caplog.text
