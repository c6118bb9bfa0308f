"""Where stores are: made when they are opened, found again, rebuilt beside themselves, maintained by one at a time."""

from pathlib import Path

import psycopg
import pytest

from builder.adapters.sqlite import SqliteLocation
from builder.domain.errors import Misconfigured, Unavailable
from builder.extras.postgres.location import PostgresLocation
from builder.ports.store import StoreLocation
from tests.factories import make_remembered


async def test_a_store_is_made_by_its_first_opening_and_found_by_the_next_one(location: StoreLocation) -> None:
    assert not await location.exists()
    async with location.open() as store:
        await store.remember(make_remembered())
    assert await location.exists()
    async with location.open() as store:
        assert await store.count() == 1


async def fill(location: StoreLocation, rows: int) -> None:
    async with location.open() as store:
        for number in range(rows):
            await store.remember(make_remembered(sequence=number + 1))


async def test_a_rebuilt_store_takes_the_place_of_the_old_one(location: StoreLocation) -> None:
    await fill(location, 1)
    async with location.rebuild() as (old, fresh):
        await fill(fresh, 2)
        assert old is not None
        async with old.open() as store:
            assert await store.count() == 1
    async with location.open() as store:
        assert await store.count() == 2


async def test_a_rebuild_that_fails_leaves_the_store_and_nothing_else(location: StoreLocation) -> None:
    await fill(location, 1)
    before = beside(location)
    rebuilding = location.rebuild()
    _, fresh = await rebuilding.__aenter__()
    await fill(fresh, 3)
    assert not await rebuilding.__aexit__(Unavailable, Unavailable("no room"), None), "the error is raised"
    assert beside(location) == before
    async with location.open() as store:
        assert await store.count() == 1


def beside(location: StoreLocation, leftover: str = "") -> list[str]:
    """What lies where the store is: files, or schemas. leftover: the end of the name of one that is made."""
    if isinstance(location, SqliteLocation):
        path = Path(location.name)
        if leftover:
            path.with_name(f"{path.name}.reindex{leftover}").write_bytes(b"half")
        return sorted(each.name for each in path.parent.iterdir())
    assert isinstance(location, PostgresLocation)
    with psycopg.connect(location._conninfo, autocommit=True) as sql:
        if leftover:
            sql.execute(f'CREATE SCHEMA "context_builder_reindex{leftover}"'.encode())
        return sorted(name for (name,) in sql.execute("SELECT nspname FROM pg_namespace").fetchall())


async def test_what_a_killed_rebuild_left_is_removed_when_the_store_is_opened(location: StoreLocation) -> None:
    await fill(location, 1)
    before = beside(location)
    assert beside(location, "_a1b2c3d4") != before
    await fill(location, 1)
    assert beside(location) == before


async def test_one_who_maintains_a_store_has_it_alone(location: StoreLocation) -> None:
    await fill(location, 1)
    async with location.open():
        for taking in (location.alone(), location.rebuild()):
            with pytest.raises(Misconfigured, match="is in use; stop the service"):
                await taking.__aenter__()
    async with location.alone() as held, held.open() as store:
        assert await store.count() == 1
        with pytest.raises(Misconfigured, match="is under maintenance by"):
            await location.open().__aenter__()
        for taking in (location.alone(), location.rebuild()):
            with pytest.raises(Misconfigured, match=r"under maintenance|in use"):
                await taking.__aenter__()


async def test_a_store_that_was_never_made_is_rebuilt_too(location: StoreLocation) -> None:
    async with location.rebuild() as (old, fresh):
        assert old is None
        await fill(fresh, 1)
    async with location.open() as store:
        assert await store.count() == 1
