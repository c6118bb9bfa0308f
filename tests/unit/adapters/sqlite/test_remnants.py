"""SQLite moves rows to other pages and leaves their bytes behind: what is erased is also overwritten where it was before."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import apsw
import pytest

from builder.adapters.sqlite import SqliteStore
from builder.adapters.sqlite.remnants import overwrite
from tests.factories import FAR, make_remembered

ROWS = 60


def words_in(path: Path, numbers: list[int]) -> list[int]:
    held = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    return [number for number in numbers if f"sorb-{number:03d} ".encode() in held]


@pytest.mark.parametrize("seed", [1, 5])
async def test_an_erased_row_is_overwritten_wherever_it_stood_and_nothing_else_is(tmp_path: Path, seed: int) -> None:
    path, random = tmp_path / "store.db", Random(seed)  # noqa: S311 - no secret
    store, other = SqliteStore(str(path)), apsw.Connection(str(path))
    numbers = list(range(ROWS))
    random.shuffle(numbers)
    for number in numbers:
        text = f"sorb-{number:03d} " + " ".join(random.choices(("pear", "quince", "fig"), k=random.randrange(1, 150)))
        await store.remember(make_remembered(text, number + 1, id=f"m{number}", tags=(f"t{number}",)))
    gone, kept = numbers[::2], numbers[1::2]
    assert len(list(other.execute("SELECT text FROM breadcrumbs"))) == ROWS, "it has the pages in memory now"
    for number in gone:
        await store.erase("acme", "s42", f"m{number}", FAR)
    await store.vacuum(frozenset({"s42"}))
    assert words_in(path, gone) == []
    # Whoever writes next, here or beside it, brings nothing back.
    other.execute("UPDATE breadcrumbs SET speaker = 'Ada'")
    for number in kept:
        await store.remember(make_remembered("Fig.", ROWS + number + 1, id=f"n{number}"))
    other.close()
    assert words_in(path, gone) == []
    assert list(apsw.Connection(str(path)).execute("PRAGMA integrity_check")) == [("ok",)]
    texts = {crumb.text[:8] for number in kept for crumb in await store.versions("acme", f"m{number}")}
    assert texts == {f"sorb-{number:03d}" for number in kept}
    store.close()


async def test_a_store_behind_a_link_is_overwritten_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "store.db"
    link.symlink_to(tmp_path / "real" / "store.db")
    store = SqliteStore(str(link))
    for number in range(3):
        await store.remember(make_remembered(f"sorb-{number:03d} and pear", number + 1, id=f"m{number}"))
    await store.erase("acme", "s42", "m0", FAR)
    await store.vacuum(frozenset({"s42"}))
    assert await store.remember(make_remembered("Fig.", 9, id="m9"))
    assert words_in(tmp_path / "real" / "store.db", [0, 1]) == [1]
    store.close()


async def test_what_was_erased_is_taken_off_the_disk_at_once_and_with_the_repeat(tmp_path: Path) -> None:
    store, flushes = SqliteStore(str(tmp_path / "store.db")), list[list[str]]()
    flush = store.connection.flush

    async def counted(sessions: Sequence[str]) -> None:
        flushes.append([*sessions])
        await flush(sessions)

    store.connection.flush = counted  # type: ignore[method-assign]
    for number in range(2):
        await store.remember(make_remembered("Pear.", number + 1, id=f"m{number}"))
        await store.erase("acme", "s42", f"m{number}", FAR)
        for _ in range(4):
            await store.vacuum(frozenset({"s42"}))
    assert flushes == [["s42"]] * 4
    store.close()


@pytest.mark.parametrize("damage", [(1, 5000), (1, 4090)], ids=["a block outside its page", "a block that ends outside it"])
def test_a_damaged_page_is_told_and_nothing_of_its_neighbour_is_overwritten(tmp_path: Path, damage: tuple[int, int]) -> None:
    path = tmp_path / "store.db"
    with closing(apsw.Connection(str(path))) as sql:
        sql.execute("PRAGMA page_size = 4096; CREATE TABLE a (b); CREATE TABLE c (d)")
        sql.execute("INSERT INTO a VALUES ('pear'); INSERT INTO c VALUES ('fig')")
    data, (offset, block) = bytearray(path.read_bytes()), damage
    page = 4096
    data[page + offset : page + offset + 2] = block.to_bytes(2, "big")
    if block + 4 <= 4096:
        data[page + block : page + block + 4] = (0).to_bytes(2, "big") + (200).to_bytes(2, "big")
    path.write_bytes(data)
    with pytest.raises(apsw.CorruptError):
        overwrite(str(path))
    assert path.read_bytes() == bytes(data)
