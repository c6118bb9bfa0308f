"""A disk that is full, and a file that others use: what waits for them is done later."""

import resource
from pathlib import Path

import apsw
import pytest

from builder.adapters.sqlite import SqliteStore
from builder.adapters.sqlite.connection import SqliteConnection
from builder.domain.errors import Unavailable
from tests.factories import make_place, make_remembered


async def test_an_attempt_that_cannot_be_taken_back_is_not_counted_by_the_next_one(tmp_path: Path) -> None:
    """Else five deliveries to a full disk are a dead letter."""
    store, other = SqliteStore(str(tmp_path / "store.db")), apsw.Connection(str(tmp_path / "store.db"))
    connection = store.connection
    assert isinstance(connection, SqliteConnection)
    connection._sql.set_busy_timeout(20)
    place = make_place(7)
    assert [await store.start_attempt(place), await store.start_attempt(place)] == [1, 2]
    for _ in range(2):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable):
            await store.undo_attempt(place)
        with pytest.raises(Unavailable):
            await store.start_attempt(place)
        with pytest.raises(Unavailable):
            await store.undo_attempt(place)
        other.execute("ROLLBACK")
        assert await store.start_attempt(place) == 2
    await store.undo_attempt(place)
    assert await store.start_attempt(place) == 2
    other.close()
    store.close()


async def test_a_full_disk_and_a_reader_delay_what_is_overwritten_and_are_no_bug(tmp_path: Path) -> None:
    path, log = tmp_path / "store.db", tmp_path / "store.db-wal"
    store = SqliteStore(str(path))
    await store.remember_all(tuple(make_remembered(f"Kumquat {n} " + "x" * 3_000, n, id=f"m{n}") for n in range(1, 90)))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limits[1]))
    try:
        with pytest.raises(Unavailable, match="check the disk"):
            await store.connection.flush([])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    other = apsw.Connection(str(path))
    other.execute("BEGIN")
    assert list(other.execute("SELECT count(*) FROM breadcrumbs")) == [(89,)]
    connection = store.connection
    assert isinstance(connection, SqliteConnection)
    connection._sql.set_busy_timeout(20)
    await store.erase("acme", "s42", "m7", make_place(100))
    await store.vacuum(frozenset({"s42"}))
    assert b"Kumquat 7 " in log.read_bytes() + path.read_bytes(), "somebody reads what it was before"
    other.close()
    await store.advance("acme", "s42", make_place(1))
    assert b"Kumquat 7 " not in log.read_bytes() + path.read_bytes()
    store.close()
