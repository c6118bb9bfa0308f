"""A store moves from a file into PostgreSQL, and its schema comes with a release."""

from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from builder.adapters.sql.copying import TABLES
from builder.adapters.sqlite import SqliteStore
from builder.app.broker import location
from builder.domain.edition import Edition
from builder.domain.errors import Misconfigured, Rejected, Unavailable
from builder.domain.recall import EVERY_SESSION, RecallQuery, Scope
from builder.extras.operations.maintenance import migrate_store
from builder.extras.postgres.location import PostgresLocation
from builder.ports.store import CompleteStore
from tests.commands import run
from tests.factories import MODEL, bare, make_answer, make_place, make_question, make_remembered
from tests.postgres import ROLE, emptied, new_database, superuser
from tests.running import environment
from tests.stores import shared_store


async def everything(store: CompleteStore) -> object:
    """What a store answers about all that `fill` puts into it."""
    scope = Scope(workspace="acme", sessions=(EVERY_SESSION,))
    recall = await store.recall(
        RecallQuery(scope=scope, session="s42", after=make_place(0), until=make_place(10**6), limit=10**6, pinned=(), model=MODEL)
    )
    return (
        recall,
        await store.traces("acme", "gone"),
        await store.missing_vectors(99),
        await store.call_origins(1),
        await store.pending_stubs(),
        await store.editions(""),
        await store.watermark("acme", "s42"),
        await store.models(),
    )


async def fill(store: CompleteStore, rows: int) -> None:
    """A store with something in every table."""
    await store.remember_all(
        tuple(make_remembered(f"Kiln {n} \x00 is K-{n}.", n, id=f"m{n}", tags=("a", "b")) for n in range(1, rows))
    )
    await store.remember(make_remembered("Forget me.", rows, id="gone"))
    await store.erase("acme", "s42", "gone", make_place(rows + 1))
    await store.remember(bare(make_remembered("No vector yet.", rows + 1, id="bare")))
    await store.remember(make_question(rows + 2))
    await store.remember(make_answer(rows + 3, session="_"))
    await store.add_stub("contexts.acme.default.s42.1")
    await store.add_edition(Edition(templates="t1", profiles={"default": "p1"}, layers=({"hints/a.md.j2": "A"},)))
    await store.advance("acme", "s42", make_place(rows + 3))
    await store.start_attempt(make_place(rows + 4))


async def test_a_copied_store_answers_as_its_source_and_a_second_run_copies_what_is_new(tmp_path: Path) -> None:
    url, steps = emptied(), list[tuple[int, int]]()
    file = f"sqlite:{tmp_path / 'store.db'}"
    with closing(SqliteStore(str(tmp_path / "store.db"))) as store:
        await fill(store, 600)
        expected = await everything(store)
    counts = await migrate_store(file, url, lambda done, total: steps.append((done, total)))
    assert counts.keys() == TABLES.keys()
    assert all(counts.values()), "the source has something in every table"
    assert steps[-1] == (sum(counts.values()),) * 2
    async with PostgresLocation(url).open() as copy:
        assert await everything(copy) == expected
    with closing(SqliteStore(str(tmp_path / "store.db"))) as store:
        await store.remember(make_remembered("One more.", 700, id="more"))
    assert (await migrate_store(file, url, lambda _done, _total: None))["breadcrumbs"] == counts["breadcrumbs"] + 1
    back = f"sqlite:{tmp_path / 'back.db'}"
    assert (await migrate_store(url, back, lambda _done, _total: None))["breadcrumbs"] == counts["breadcrumbs"] + 1


async def test_a_copy_that_was_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    url = emptied()
    with closing(SqliteStore(str(tmp_path / "store.db"))) as store:
        await fill(store, 1_200)
        expected = await everything(store)

    def interrupt(done: int, _total: int) -> None:
        if done > 800:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await migrate_store(f"sqlite:{tmp_path / 'store.db'}", url, interrupt)
    steps = list[tuple[int, int]]()
    await migrate_store(f"sqlite:{tmp_path / 'store.db'}", url, lambda done, total: steps.append((done, total)))
    assert steps[0][0] > 800
    async with PostgresLocation(url).open() as copy:
        assert await everything(copy) == expected


async def test_a_copy_of_which_the_source_went_on_is_made_anew_and_nobody_serves_it_meanwhile(tmp_path: Path) -> None:
    url, file = emptied(), f"sqlite:{tmp_path / 'store.db'}"
    with closing(SqliteStore(str(tmp_path / "store.db"))) as store:
        await fill(store, 600)

    def interrupt(done: int, _total: int) -> None:
        if done > 800:
            raise KeyboardInterrupt

    for target in (url, f"sqlite:{tmp_path / 'copy.db'}"):
        with pytest.raises(KeyboardInterrupt):
            await migrate_store(file, target, interrupt)
        with pytest.raises(Misconfigured, match="is a copy that is not whole; run `context-builder migrate-store FROM TO` again"):
            async with location(target).open():
                pass
        with pytest.raises(Rejected, match="the source is a copy that is not whole"):
            await migrate_store(target, f"sqlite:{tmp_path / 'other.db'}", interrupt)
    with closing(SqliteStore(str(tmp_path / "store.db"))) as store:
        await store.remember(make_remembered("It went on.", 9_000, session="a", id="first-of-the-table"))
        await store.erase("acme", "s42", "m7", make_place(9_001))
        expected = await everything(store)
    for target in (url, f"sqlite:{tmp_path / 'copy.db'}"):
        await migrate_store(file, target, lambda _done, _total: None)
        async with location(target).open() as copy:
            assert await everything(copy) == expected


async def test_a_target_with_rows_of_its_own_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    url = emptied()
    with closing(SqliteStore(str(tmp_path / "store.db"))) as store:
        await fill(store, 10)
    with closing(shared_store()) as other:
        await other.remember(make_remembered("Somebody else's.", 2, session="a", id="other"))
    with pytest.raises(Rejected, match="the target has rows of its own in "):
        await migrate_store(f"sqlite:{tmp_path / 'store.db'}", url, lambda _done, _total: None)
    async with PostgresLocation(url).open() as other:
        assert await other.count() == 1


def test_the_commands_migrate_and_copy_and_say_what_they_did(tmp_path: Path) -> None:
    url = new_database("commands")
    env = environment(tmp_path / "data", store__url=url)
    for _ in range(2):
        migrated = run("migrate", env=env)
        assert migrated.returncode == 0, migrated.stderr
        assert migrated.stderr.startswith("the schema of postgresql://")
    with closing(SqliteStore(str(tmp_path / "store.db"))) as store:
        assert store.size_bytes() > 0
    copied = run("migrate-store", f"sqlite:{tmp_path / 'store.db'}", url, env=env)
    assert (copied.returncode, copied.stderr) == (
        0,
        "0 breadcrumbs, 0 rows are in both stores; set CONTEXT_BUILDER_STORE__URL, then start the service\n",
    )
    missing = run("migrate-store", "sqlite:/nowhere/store.db", url, env=env)
    assert (missing.returncode, "is no store; name the one that the service wrote" in missing.stderr) == (78, True)


async def test_a_transaction_of_one_workspace_neither_sees_nor_writes_rows_of_another() -> None:
    with closing(shared_store()) as store:
        mine, theirs = make_remembered("Mine.", 1), make_remembered("Theirs.", 2, workspace="rival", id="m2")
        await store.remember(mine)
        await store.remember(theirs)
        for table in ("breadcrumbs", "passages", "identities", "tags"):
            rows = await store.connection.rows(f"SELECT DISTINCT workspace FROM {table}", workspace="rival")
            assert rows in ([("rival",)], []), table
        statement = "UPDATE breadcrumbs SET workspace = 'rival'"
        with pytest.raises(Unavailable, match="row-level security"):
            await store.connection.run(lambda sql: list(sql.execute(statement)), workspace="acme")
        assert await store.count() == 2


def test_what_is_missing_is_said_without_the_password(tmp_path: Path) -> None:
    unreachable = run("migrate", env=environment(tmp_path, store__url="postgresql://me:secret@127.0.0.1:9/cb"))
    assert unreachable.returncode == 69
    assert "the store postgresql://127.0.0.1:9/cb cannot be reached" in unreachable.stderr
    assert "secret" not in unreachable.stderr
    for url in ("me:se/cret@host/db", "me:se@cret@host/db", "me:se%cret@host/db", "me:se cret@host/db", "me:1/se?cret@host/db"):
        with pytest.raises(Misconfigured, match="is none of PostgreSQL") as raised:
            PostgresLocation(f"postgresql://{url}")
        assert "cret" not in str(raised.value), "characters that a URL cannot have make pieces of a password look like a host"
    for url in (superuser("nowhere"), superuser().replace("//postgres:", "//nobody:")):
        refused = run("migrate", env=environment(tmp_path, store__url=url))
        assert (refused.returncode, "does not exist" in refused.stderr) == (78, True)
    with psycopg.connect(superuser(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS without_vector WITH (FORCE)")
        connection.execute("CREATE DATABASE without_vector OWNER builder")
    url = superuser("without_vector").replace("//postgres:", "//builder:")
    lacking = run("migrate", env=environment(tmp_path, store__url=url))
    assert lacking.returncode == 78
    assert "let an administrator run CREATE EXTENSION vector in it" in lacking.stderr


async def test_a_newer_schema_lets_an_older_worker_go_on(caplog: pytest.LogCaptureFixture) -> None:
    url = new_database("newer")
    async with PostgresLocation(url).open() as store:
        await store.remember(make_remembered())
    with psycopg.connect(superuser("newer"), autocommit=True) as connection:
        connection.execute("UPDATE context_builder.migrations SET version_num = '9999'")
        for table in TABLES:
            connection.execute(f"ALTER TABLE context_builder.{table} ADD COLUMN mood text")
    async with PostgresLocation(url).open() as store:
        await fill(store, 300)
        assert await everything(store)
    assert "the store has migration 9999 of a newer release, this one knows 0004; migrations only add" in caplog.text


def prepared(name: str, *statements: str, options: str = "") -> str:
    """The URL for the service's role of a database that an administrator made."""
    with psycopg.connect(superuser(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name} {options}")
    with psycopg.connect(superuser(name), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    return superuser(name).replace("//postgres:", f"//{ROLE}:")


async def test_a_schema_that_was_made_for_the_service_and_pgvector_in_a_schema_of_its_own_are_enough() -> None:
    url = prepared(
        "prepared",
        "CREATE SCHEMA extensions",
        "CREATE EXTENSION vector SCHEMA extensions",
        f"GRANT USAGE ON SCHEMA extensions TO {ROLE}",
        f"CREATE SCHEMA context_builder AUTHORIZATION {ROLE}",
    )
    async with PostgresLocation(url).open() as store:
        assert await store.remember(make_remembered())


async def test_what_the_database_refuses_is_a_sentence() -> None:
    schema = ("CREATE SCHEMA context_builder", f"GRANT USAGE ON SCHEMA context_builder TO {ROLE}")
    for url, sentence in (
        (prepared("refusing", "CREATE EXTENSION vector", *schema), "permission denied for schema .*its user's rights"),
        (
            prepared("bytes", options="TEMPLATE template0 ENCODING SQL_ASCII LOCALE 'C'"),
            "SQL_ASCII; make one with ENCODING 'UTF8'",
        ),
    ):
        with pytest.raises(Misconfigured, match=sentence):
            async with PostgresLocation(url).open():
                pass
