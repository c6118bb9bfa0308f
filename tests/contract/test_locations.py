"""Where stores are: made when they are opened, found again, rebuilt beside themselves."""

import pytest

from builder.domain.errors import Misconfigured
from builder.ports.store import StoreLocation
from tests.factories import make_remembered


async def test_a_store_is_made_by_its_first_opening_and_found_by_the_next_one(location: StoreLocation) -> None:
    assert not await location.exists()
    async with location.open() as store:
        await store.remember(make_remembered())
    assert await location.exists()
    async with location.open() as store:
        assert await store.count() == 1


async def test_a_rebuilt_store_takes_the_place_of_the_old_one(location: StoreLocation) -> None:
    async with location.open() as store:
        await store.remember(make_remembered())
    rebuilt = await location.rebuild()
    async with rebuilt.open() as store:
        assert await store.count() == 0
        await store.remember(make_remembered(sequence=2))
        await store.remember(make_remembered(sequence=3))
    await location.replace(rebuilt)
    async with location.open() as store:
        assert await store.count() == 2


async def test_what_an_interrupted_rebuild_left_is_removed_by_the_next_one(location: StoreLocation) -> None:
    async with location.open():
        pass
    async with (await location.rebuild()).open() as store:
        await store.remember(make_remembered())
    async with (await location.rebuild()).open() as store:
        assert await store.count() == 0


async def test_a_store_in_use_is_neither_rebuilt_nor_replaced(location: StoreLocation) -> None:
    async with location.open():
        pass
    rebuilt = await location.rebuild()
    async with rebuilt.open():
        pass
    async with location.open():
        with pytest.raises(Misconfigured, match="is in use; stop the service"):
            await location.rebuild()
        with pytest.raises(Misconfigured, match="is in use; stop the service"):
            await location.replace(rebuilt)


async def test_a_store_that_was_never_made_is_rebuilt_too(location: StoreLocation) -> None:
    rebuilt = await location.rebuild()
    async with rebuilt.open() as store:
        await store.remember(make_remembered())
    await location.replace(rebuilt)
    async with location.open() as store:
        assert await store.count() == 1
