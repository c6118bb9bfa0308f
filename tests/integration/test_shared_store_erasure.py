"""What is erased is in no file of PostgreSQL's tables, nor in its samples of them."""

import re
from pathlib import Path
from random import Random

import psycopg

from tests.factories import FAR, make_remembered
from tests.postgres import server, superuser
from tests.stores import shared_store

ROWS = 120


def files_with(numbers: range) -> set[str]:
    words = re.compile("|".join(f"sorb-{number:03d} " for number in numbers).encode())
    with psycopg.connect(superuser("shared"), autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        (database,) = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone() or ("",)
    files = [file for file in Path(server().pgdata, "base", str(database)).rglob("*") if file.is_file()]
    return {file.name for file in files if words.search(file.read_bytes())}


async def test_erased_words_are_in_no_file_of_the_tables_and_in_no_sample() -> None:
    store, random = shared_store(), Random(3)  # noqa: S311 - no secret
    for number in range(ROWS):
        text = f"sorb-{number:03d} " + " ".join(random.choices(("pear", "quince", "fig"), k=random.randrange(1, 150)))
        person = {"speaker": text[:9], "user_id": text[:9]}
        await store.remember(
            make_remembered(text, number + 1, id=f"m{number}", session=f"s{number % 4}", tags=(text[:9],), **person)
        )
    with psycopg.connect(superuser("shared"), autocommit=True) as connection:
        connection.execute("ANALYZE")
    gone, kept = range(0, ROWS, 2), range(1, ROWS, 2)
    assert files_with(gone)
    for number in gone:
        await store.erase("acme", f"s{number % 4}", f"m{number}", FAR)
    await store.vacuum(frozenset({"s0", "s2"}))
    assert files_with(gone) == set()
    assert {crumb.id for number in kept for crumb in await store.versions("acme", f"m{number}")} == {f"m{n}" for n in kept}
    store.close()


async def test_who_reads_meanwhile_holds_up_no_erasure_and_nobody_else_and_the_repeat_ends_it() -> None:
    store = shared_store()
    for number in range(2):
        await store.remember(make_remembered(f"sorb-{number:03d} and pear", number + 1, id=f"m{number}", session=f"s{number}"))
    with psycopg.connect(superuser("shared")) as reader:
        reader.execute("SET search_path TO context_builder")
        assert reader.execute("SELECT count(*) FROM breadcrumbs").fetchone()
        await store.erase("acme", "s0", "m0", FAR)
        await store.vacuum(frozenset({"s0"}))
        assert await store.remember(make_remembered("Fig.", 5, id="m5", session="s1"))
        assert files_with(range(1)), "the reader could still see it"
    await store.vacuum(frozenset({"s0"}))
    assert files_with(range(1)) == set()
    store.close()
