"""One connection, one thread, numbered migrations; driver errors become ours here."""

import asyncio
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import apsw
import stamina
from typing_extensions import override

from builder.adapters.sql.connection import EVERY_WORKSPACE, Access, Connection, Cursor, Refusals, Row
from builder.adapters.sqlite.remnants import overwrite
from builder.domain.errors import Misconfigured, Unavailable

MEMORY = ":memory:"
"""The path of a store without a file."""
DAMAGE = (apsw.NotADBError, apsw.CorruptError)
"""How SQLite says that a file is damaged."""
DAMAGED = (
    "the store {} is damaged ({}); run `context-builder reindex`: it moves the file aside and makes the store again from the "
    "stream; or name another file in CONTEXT_BUILDER_STORE__URL, if this one is no store"
)
"""For the path and SQLite's reason."""
T = TypeVar("T")

BUSY_MS = 10_000
_PAGES = "PRAGMA page_size = 8192"  # float16 vectors and terms stay inside their page
_BEGIN = {Access.WRITING: "BEGIN IMMEDIATE", Access.READING: "BEGIN"}


class SqliteCursor(Cursor):
    """Statements on a connection; one transaction writes at a time, so none needs a lock."""

    def __init__(self, sql: apsw.Connection) -> None:
        self._sql = sql

    @override
    def execute(self, text: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        return self._sql.execute(text, values)

    @override
    def executemany(self, text: str, rows: Sequence[Sequence[Any]]) -> None:
        self._sql.executemany(text, rows)

    @override
    def changes(self) -> int:
        return self._sql.changes()

    @override
    def lock(self, name: str) -> None:
        return


class SqliteConnection(Connection):
    """Runs functions on its own thread, each inside one transaction."""

    def __init__(self, path: str) -> None:
        """path: a file, created with its folders, or ":memory:". Raises `Misconfigured`."""
        self._path = path
        self._refusals = Refusals()
        self._damage = ""
        self._waits = False
        """Whether the log still has to be brought into the file."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sqlite")
        try:
            self._sql = self._thread.submit(_open, path).result()
        except Misconfigured:
            self._thread.shutdown()
            raise
        self._cursor = SqliteCursor(self._sql)

    @override
    async def run(self, work: Callable[[Cursor], T], access: Access = Access.WRITING, workspace: str = EVERY_WORKSPACE) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work, access)

    @override
    async def check(self) -> str:
        try:
            await self.rows("SELECT 1")
        except Unavailable as error:
            return str(error)
        return self._damage

    @override
    async def flush(self, sessions: Sequence[str]) -> None:
        def checkpoint() -> None:
            with self._translated():
                self._checkpoint()

        await asyncio.get_running_loop().run_in_executor(self._thread, checkpoint)

    @property
    @override
    def refusal(self) -> str:
        return self._refusals.newest

    @override
    def size_bytes(self) -> int:
        file = Path(self._path)
        return sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*") if part.is_file())

    @override
    def free_bytes(self) -> int | None:
        return None if self._path == MEMORY else shutil.disk_usage(Path(self._path).parent).free

    @override
    def close(self) -> None:
        self._thread.submit(self._sql.close).result()
        self._thread.shutdown()

    def _transact(self, work: Callable[[Cursor], T], access: Access) -> T:
        with self._refusals.noting(work, access), self._translated(), _transaction(self._sql, _BEGIN[access]):
            result = work(self._cursor)
        if self._waits and access is Access.WRITING:
            self._sql.set_busy_timeout(0)
            try:
                with suppress(apsw.Error, OSError):  # the next write tries again
                    self._checkpoint()
            finally:
                self._sql.set_busy_timeout(BUSY_MS)
        return result

    def _checkpoint(self) -> None:
        """Take deleted rows out of the log and the file. While somebody reads the log, it waits for the next write."""
        self._waits = True
        with suppress(apsw.BusyError):
            ((is_busy, *_),) = self._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._waits = bool(is_busy) or not (self._path == MEMORY or self._overwrite())

    def _overwrite(self) -> bool:
        """Overwrite what stands in free space; False when somebody has written since the checkpoint."""
        file = self._sql.db_filename("main")  # links are followed: the log lies beside the file
        with _transaction(self._sql):
            if Path(f"{file}-wal").stat().st_size:
                return False
            overwrite(file)
            # After a write, other connections read again what they have in memory.
            self._sql.pragma("user_version", self._sql.pragma("user_version"))
        self._sql.execute("PRAGMA shrink_memory")  # this one has them too
        return True

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            self._damage = DAMAGED.format(self._path, error)
            raise Unavailable(self._damage) from error
        except apsw.Error as error:
            sentence = f"the store {self._path} failed: {error}; check the disk and who else uses the file"
            raise Unavailable(sentence) from error


@contextmanager
def _transaction(sql: apsw.Connection, begin: str = _BEGIN[Access.WRITING]) -> Iterator[None]:
    sql.execute(begin)
    try:
        yield
        sql.execute("COMMIT")
    finally:
        if sql.in_transaction:
            sql.execute("ROLLBACK")


def _open(path: str) -> apsw.Connection:
    try:
        if path != MEMORY:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        sql = apsw.Connection(path)
        sql.set_busy_timeout(BUSY_MS)
        sql.execute(_PAGES)
        if path == MEMORY:
            sql.deserialize("main", _empty())
        _use_wal(sql)
        sql.execute("PRAGMA synchronous = NORMAL")  # survives kill -9; the stream is the truth after a power cut
        sql.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten, not only given free
        sql.execute("PRAGMA foreign_keys = ON")
        if path != MEMORY:
            _migrate(sql, path)
    except DAMAGE as error:
        raise Misconfigured(DAMAGED.format(path, error)) from error
    except (apsw.Error, OSError) as error:
        raise Misconfigured(
            f"the store {path} cannot be opened: {error}; check CONTEXT_BUILDER_STORE__URL and its rights"
        ) from error
    return sql


@cache
def _empty() -> bytes:
    """A migrated database without rows: the steps take ten times as long as a copy."""
    with closing(apsw.Connection(MEMORY)) as sql:
        sql.execute(_PAGES)
        _migrate(sql, MEMORY)
        return sql.serialize("main")


@stamina.retry(on=apsw.BusyError, attempts=None, timeout=BUSY_MS / 1000, wait_initial=0.005, wait_max=0.005, wait_jitter=0)
def _use_wal(sql: apsw.Connection) -> None:
    sql.execute("PRAGMA journal_mode = WAL")


def _migrate(sql: apsw.Connection, path: str) -> None:
    folder = files(__package__) / "migrations"
    steps = sorted((item.name, item.read_text("utf-8")) for item in folder.iterdir() if item.name.endswith(".sql"))
    with _transaction(sql):
        level = int(sql.pragma("user_version"))
        if level > len(steps):
            raise Misconfigured(
                f"the store {path} has migration level {level}, this version knows {len(steps)}; run the newer version again"
            )
        for number, (_, step) in enumerate(steps[level:], level + 1):
            sql.execute(step)
            sql.pragma("user_version", number)
