"""SQLite moves rows to other pages and leaves their bytes behind: what is erased is also overwritten where it was before."""

from pathlib import Path
from random import Random

import apsw
import pytest

from builder.adapters.sqlite import SqliteStore
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
