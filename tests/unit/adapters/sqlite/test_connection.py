"""What only a file can do: outlive its process, be shared, be broken, be too new."""

import asyncio
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from importlib.resources import files
from pathlib import Path

import apsw
import pytest

from builder.adapters.sqlite import SqliteStore
from builder.adapters.sqlite.connection import SqliteConnection
from builder.domain.breadcrumb import Place
from builder.domain.errors import Misconfigured, Unavailable
from tests.contract.test_store import query
from tests.factories import make_answer, make_catalog, make_place, make_question, make_remembered
from tests.running import wait_for

ROOT = Path(__file__).parents[4]
WRITER = """
import asyncio, sys
from dataclasses import replace
from builder.adapters.sqlite import SqliteStore
from tests.factories import make_remembered
async def write(path, name, rows):
    prepared = [make_remembered(f"Message {n} of {name}.", n, id=f"{name}-{n}", session=name) for n in range(1, 41)]
    shared = [make_remembered(f"Shared message {n}.", n, id=f"shared-{n}", session="shared") for n in range(1, 41)]
    print("ready", flush=True)
    sys.stdin.readline()
    store = SqliteStore(path)
    for n in range(rows):
        row = prepared[n % 40]
        crumb = replace(row.breadcrumb, id=f"{name}-{n}", place=row.breadcrumb.place._replace(sequence=n + 1))
        await store.remember(replace(row, breadcrumb=crumb))
        if n < 40:
            await store.remember(shared[n])
        print(crumb.id, flush=True)
    store.close()

asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def start_writer(path: Path, name: str, rows: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", WRITER, str(path), name, str(rows)]
    writer = subprocess.Popen(arguments, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    assert writer.stdout.readline() == "ready\n"
    return writer


def go(*writers: subprocess.Popen[str]) -> None:
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()


async def recalled(store: SqliteStore, session: str) -> list[str]:
    return [row.breadcrumb.id for row in (await store.recall(query(until=10**9, session=session, limit=9999))).rows]


async def test_a_reopened_file_holds_everything(tmp_path: Path) -> None:
    path = str(tmp_path / "deep" / "folder" / "store.db")
    said, catalog = make_remembered("I moved to Lisbon.", 2, tags=("a",)), make_catalog(3, 1)
    before = SqliteStore(path)
    for row in (said, catalog):
        await before.remember(row)
    await before.advance("acme", "s42", make_place(2))
    await before.start_attempt(make_place(3))
    before.close()
    after = SqliteStore(path)
    recall = await after.recall(query(pinned=("tool.catalog.v1",)))
    assert (recall.rows, recall.pinned) == ((said,), ((catalog,),))
    assert await after.watermark("acme", "s42") == make_place(2)
    assert await after.start_attempt(make_place(3)) == 2
    assert not await after.remember(said)
    after.close()


async def test_a_writer_that_is_killed_loses_nothing_it_has_acknowledged(tmp_path: Path) -> None:
    writer = start_writer(tmp_path / "store.db", "killed", 1_000_000)
    go(writer)
    assert writer.stdout
    acknowledged = [writer.stdout.readline().strip() for _ in range(200)]
    os.kill(writer.pid, signal.SIGKILL)
    acknowledged += writer.stdout.read().split()  # not communicate: it reads past what readline has buffered
    writer.communicate()
    store = SqliteStore(str(tmp_path / "store.db"))
    kept = await recalled(store, "killed")
    assert kept[: len(acknowledged)] == acknowledged
    assert len(kept) <= len(acknowledged) + 1
    assert await store.remember(make_remembered("Life goes on.", session="killed", place=Place(2**60, 1)))
    store.close()


async def test_two_processes_that_write_a_new_file_at_once_both_succeed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writers = [start_writer(path, name, 150) for name in ("left", "right")]
    go(*writers)
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    store = SqliteStore(str(path))
    assert await recalled(store, "left") == [f"left-{n}" for n in range(150)]
    assert await recalled(store, "right") == [f"right-{n}" for n in range(150)]
    assert await recalled(store, "shared") == [f"shared-{n}" for n in range(1, 41)]
    store.close()


async def test_a_file_that_somebody_holds_locked_is_unavailable(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    connection = store.connection
    assert isinstance(connection, SqliteConnection)
    connection._sql.set_busy_timeout(20)
    other = apsw.Connection(str(tmp_path / "store.db"))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="check the disk and who else uses the file"):
        await store.remember(make_remembered())
    assert "failed" in store.refusal
    assert await store.check() == ""  # it can be read
    other.execute("ROLLBACK")
    assert await store.remember(make_remembered())
    assert not store.refusal
    other.close()
    store.close()


async def test_the_event_loop_is_free_while_the_store_waits_for_somebody_else(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    other = apsw.Connection(str(tmp_path / "store.db"))
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.ensure_future(store.remember(make_remembered()))
    for _ in range(1000):
        await asyncio.sleep(0)
    assert not writing.done()
    other.execute("COMMIT")
    assert await writing
    other.close()
    store.close()


async def test_a_write_that_fails_halfway_leaves_nothing_behind(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    spoiler = apsw.Connection(str(tmp_path / "store.db"))
    spoiler.execute("ALTER TABLE passages RENAME TO hidden")
    with pytest.raises(Unavailable):
        await store.remember(make_remembered())
    spoiler.execute("ALTER TABLE hidden RENAME TO passages")
    assert await store.count() == 0
    assert await store.remember(make_remembered())
    spoiler.close()
    store.close()


def test_a_store_of_a_newer_version_is_misconfigured_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteStore(str(path)).close()
    newer = apsw.Connection(str(path))
    newer.pragma("user_version", 99)
    newer.close()
    before = path.read_bytes()
    with pytest.raises(Misconfigured, match=r"has migration level 99, this version knows \d+; run the newer version again"):
        SqliteStore(str(path))
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", ["a folder", "below a file", "no database"])
def test_a_path_that_cannot_be_opened_is_misconfigured(tmp_path: Path, kind: str) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ana, this is no database. " * 50)
    path = {"a folder": tmp_path, "below a file": tmp_path / "letter.txt" / "store.db", "no database": tmp_path / "letter.txt"}
    with pytest.raises(Misconfigured, match=r"(cannot be opened|is damaged).* CONTEXT_BUILDER_STORE__URL"):
        SqliteStore(str(path[kind]))


def test_who_opens_a_new_file_waits_for_who_is_just_making_it(tmp_path: Path) -> None:
    maker = apsw.Connection(str(tmp_path / "store.db"))
    maker.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        opening = pool.submit(SqliteStore, str(tmp_path / "store.db"))
        wait_for(opening.running, "the second opening to begin")
        assert opening in wait([opening], timeout=0.1).not_done
        maker.execute("COMMIT")
        opening.result().close()
    maker.close()


def test_opening_a_store_twice_migrates_it_once(tmp_path: Path) -> None:
    stores = [SqliteStore(str(tmp_path / "store.db")) for _ in range(2)]
    for store in stores:
        assert asyncio.run(store.count()) == 0
        store.close()


def test_two_stores_in_memory_know_nothing_of_each_other() -> None:
    stores = [SqliteStore(":memory:") for _ in range(2)]
    assert asyncio.run(stores[0].remember(make_remembered()))
    assert asyncio.run(stores[1].count()) == 0
    for store in stores:
        store.close()


async def test_a_file_of_the_first_version_is_brought_up_to_date_and_lacks_nothing(tmp_path: Path) -> None:
    first = (files("builder.adapters.sqlite") / "migrations" / "0001_breadcrumbs.sql").read_text("utf-8")
    old = apsw.Connection(str(tmp_path / "store.db"))
    old.execute(first)
    old.pragma("user_version", 1)
    old.close()
    store = SqliteStore(str(tmp_path / "store.db"))
    row = make_remembered()
    assert await store.remember(row)
    assert (await recalled(store, "s42"), await store.count_missing_vectors()) == ([row.breadcrumb.id], 0)
    store.close()


ADDED = ("utc_offset", "user_id", "private", "hints", "creator", "agent", "recipients", "replay", "facts_revision")
COLUMNS = map("ALTER TABLE breadcrumbs DROP COLUMN {}".format, ADDED)
INDEXES = ("DROP INDEX breadcrumbs_people", "DROP INDEX breadcrumbs_outdated")
SENDERS = "; ".join((*INDEXES, *COLUMNS, "DROP TABLE editions", "DROP TABLE edition_texts"))
"""Takes away what later files have."""


async def test_what_a_file_held_before_senders_were_kept_has_its_agent_alone_and_what_comes_now_has_all(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    store = SqliteStore(path)
    assert await store.remember(before := make_remembered("Before.", body='{"creator":{"agent_id":"koch"}}', agent="koch"))
    store.close()
    older = apsw.Connection(path)
    older.execute(SENDERS)
    older.pragma("user_version", 9)
    older.close()
    store = SqliteStore(path)
    after = make_remembered("After.", 2, utc_offset=0, user_id="u7", to=("koch",))
    assert await store.remember(after)
    assert await store.count_outdated() == 1, "doctor asks for `reindex`: what is heard now is of this release"
    assert await store.facts(before.breadcrumb) == before
    assert await store.facts(after.breadcrumb) == after
    store.close()


async def test_what_an_older_file_holds_of_no_session_joins_who_asked(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    store = SqliteStore(path)
    asked = make_question(1), make_question(2, "r2", "s43"), make_question(5, session="s43")
    edited, passed_on = make_answer(7, "r2", id="m3", version=2), make_answer(8, id="m3", version=3, call_signatures=("{}",))
    for row in (*asked, make_answer(3), make_answer(4, "r9"), make_answer(6), edited, passed_on):
        assert await store.remember(row)
    store.close()
    older = apsw.Connection(path)
    older.execute("DROP TABLE calls; DROP TABLE answers")
    older.execute(SENDERS)
    older.pragma("user_version", 7)
    older.close()
    store = SqliteStore(path)
    assert (await recalled(store, "s42"), await recalled(store, "s43")) == (["m1", "m3", "m3", "m3"], ["m2", "m5"])
    store.close()


def test_migrations_are_numbered_without_gaps_and_repeats() -> None:
    names = sorted(
        file.name for file in (files("builder.adapters.sqlite") / "migrations").iterdir() if file.name.endswith(".sql")
    )
    assert [name.partition("_")[0] for name in names] == [f"{n:04}" for n in range(1, len(names) + 1)]
