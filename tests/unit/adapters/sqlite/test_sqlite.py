"""A file that is damaged: how that is told, and how its store is made again."""

import gc
import re
from pathlib import Path

import pytest

from builder.app.broker import location
from builder.domain.errors import Misconfigured, Unavailable
from builder.ports.store import StoreLocation
from tests.factories import make_remembered


def damaged(path: Path, kind: str) -> None:
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "the header is overwritten": b"x" * 100 + data[100:],
            "the file is cut": data[:middle],
            "all but the first page is overwritten": data[:8192] + b"x" * (len(data) - 8192),
        }[kind]
    )


@pytest.mark.parametrize("kind", ["the header is overwritten", "the file is cut", "all but the first page is overwritten"])
async def test_a_damaged_store_says_so_and_its_rebuild_keeps_it_aside(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "store.sqlite3"
    place = location(f"sqlite:{path}")
    async with place.open() as store:
        await store.remember_all(tuple(make_remembered(sequence=number) for number in range(1, 200)))
    damaged(path, kind)
    before = path.read_bytes()
    said = await refusal_of(place)
    gc.collect()  # the connection that failed
    assert re.search(r"is damaged \(.+\); run `context-builder reindex`: it moves the file aside", said)
    with pytest.raises(KeyboardInterrupt):
        async with place.rebuild():
            raise KeyboardInterrupt
    assert path.read_bytes() == before, "it stays until another takes its place"
    async with place.rebuild() as (old, fresh), fresh.open():
        assert old is None
    (aside,) = tmp_path.glob("store-damaged-*Z.sqlite3")
    assert aside.read_bytes() == before
    async with place.open() as store:
        assert await store.count() == 0


async def refusal_of(place: StoreLocation) -> str:
    """Why the store cannot be opened, or read once it is open; its check says the same then."""
    try:
        async with place.open() as store:
            assert await store.check() == ""
            with pytest.raises(Unavailable) as caught:
                await store.count()
            assert await store.check() == str(caught.value)
            return str(caught.value)
    except Misconfigured as error:
        return str(error)
