"""One connection, one thread, numbered migrations; driver errors become ours here."""

import asyncio
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import apsw
import stamina

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
REFUSAL_SECONDS = 60.0
"""How long a refused write is reported, unless it succeeds."""
WRITING, READING = "BEGIN IMMEDIATE", "BEGIN"


def file_bytes(path: str) -> int:
    """Bytes of the file and its log."""
    file = Path(path)
    return sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*") if part.is_file())


def free_bytes(path: str) -> int | None:
    """Free bytes of the file system; None without a file."""
    return None if path == MEMORY else shutil.disk_usage(Path(path).parent).free


class Connection:
    """Runs functions on its own thread, each inside one transaction."""

    def __init__(self, path: str) -> None:
        """path: a file, created with its folders, or ":memory:". Raises `Misconfigured`."""
        self._path = path
        self._refusals: dict[str, tuple[str, float]] = {}
        self.damage = ""
        """Damage of the file and the remedy; "" = none seen."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sqlite")
        try:
            self._sql = self._thread.submit(_open, path).result()
        except Misconfigured:
            self._thread.shutdown()
            raise

    async def run(self, work: Callable[[apsw.Connection], T], begin: str = WRITING) -> T:
        """The function's result, once what it wrote is durable. READING: on one snapshot. Raises `Unavailable`."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work, begin)

    async def rows(self, text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query that writes nothing. Raises `Unavailable`."""
        return await self.run(lambda sql: list(sql.execute(text, values)), READING)

    async def flush(self) -> None:
        """Empty the log, which holds deleted rows, unless it is being read."""

        def checkpoint() -> None:
            try:
                self._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except apsw.BusyError:
                return

        await asyncio.get_running_loop().run_in_executor(self._thread, checkpoint)

    @property
    def refusal(self) -> str:
        """Why a write failed; "" once the same write succeeded."""
        recent = [sentence for sentence, moment in tuple(self._refusals.values()) if monotonic() - moment < REFUSAL_SECONDS]
        return recent[-1] if recent else ""

    def close(self) -> None:
        """Finish what runs and close the file."""
        self._thread.submit(self._sql.close).result()
        self._thread.shutdown()

    def _transact(self, work: Callable[[apsw.Connection], T], begin: str) -> T:
        kind = getattr(work, "__qualname__", "")
        try:
            with _transaction(self._sql, begin):
                result = work(self._sql)
        except apsw.Error as error:
            sentence = f"the store {self._path} failed: {error}; check the disk and who else uses the file"
            if isinstance(error, DAMAGE):
                sentence = self.damage = DAMAGED.format(self._path, error)
            if begin == WRITING:
                self._refusals[kind] = sentence, monotonic()
            raise Unavailable(sentence) from error
        self._refusals.pop(kind, None)
        return result


@contextmanager
def _transaction(sql: apsw.Connection, begin: str = WRITING) -> Iterator[None]:
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
        sql.execute("PRAGMA page_size = 8192")  # float16 vectors and terms stay inside their page
        _use_wal(sql)
        sql.execute("PRAGMA synchronous = NORMAL")  # survives kill -9; the stream is the truth after a power cut
        sql.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten, not only given free
        sql.execute("PRAGMA foreign_keys = ON")
        _migrate(sql, path)
    except DAMAGE as error:
        raise Misconfigured(DAMAGED.format(path, error)) from error
    except (apsw.Error, OSError) as error:
        raise Misconfigured(
            f"the store {path} cannot be opened: {error}; check CONTEXT_BUILDER_STORE__URL and its rights"
        ) from error
    return sql


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
