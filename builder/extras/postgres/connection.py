"""A pool of connections, each with a thread; the driver's errors become ours here."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR, socket
from threading import Timer
from typing import TypeVar

import psycopg
import stamina
from psycopg.errors import DeadlockDetected, UniqueViolation
from psycopg.sql import SQL, Composed, Identifier, Literal
from psycopg_pool import ConnectionPool
from typing_extensions import override

from builder.adapters.sql.connection import EVERY_WORKSPACE, Access, Connection, Cursor, Refusals
from builder.domain.errors import Unavailable
from builder.extras.postgres.cursor import PostgresCursor, adapt

CONNECTIONS = 4
"""Of a worker: as many deliveries as are in work at once."""
WAIT_SECONDS = 5.0
"""For a connection, before the store is called unavailable."""
PLANNER = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "join_collapse_limit": "1",
    "jit": "off",
}
"""Every statement walks indexes, in the order in which it names its tables."""
LIMITS = {"idle_in_transaction_session_timeout": "30s"}
"""A worker that is frozen or cut off lets go of its locks: others wait for them."""
SEARCH_PATH = """
    SELECT set_config('search_path', format('%%I, %%I', %s::text, coalesce((
        SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'
    ), 'public')), %s)
"""
"""A schema, then pgvector's, wherever an administrator put it. Parameters: the schema, whether for one transaction."""
RACES = (UniqueViolation, DeadlockDetected)
"""Another worker wrote the same at the same time; once more, and the transaction sees it."""
T = TypeVar("T")

_BEGIN = {
    Access.READING: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    Access.WRITING: "BEGIN",
}
LOCK_WAIT = "1s"
"""Whoever waits for a table longer than that holds up everybody else who wants it."""
MAX_REWRITE_BYTES = 64 * 2**20
"""Of a table that is written anew after an erasure, in about a second; a larger one has its dead rows taken only."""
PARTITIONED = ("breadcrumbs", "passages")
"""Tables with words, by session, in the same number of partitions."""
_PARTITIONS = """
    SELECT DISTINCT number FROM generate_series(0, (
        SELECT count(*) FROM pg_inherits WHERE inhparent = 'breadcrumbs'::regclass
    ) - 1) AS number CROSS JOIN unnest(%s::text[]) AS session
    WHERE satisfies_hash_partition('breadcrumbs'::regclass, (
        SELECT count(*) FROM pg_inherits WHERE inhparent = 'breadcrumbs'::regclass
    )::int, number::int, session COLLATE "C") ORDER BY number
"""
_SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""
_GROWN = """
    SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
      AND pg_relation_size(oid) > current_setting('block_size')::int * (1 + 2 * relpages)
"""


class PostgresConnection(Connection):
    """Connections to one schema of a database; a lost one is replaced."""

    derived = ("identities",)

    def __init__(self, conninfo: str, name: str, schema: str, *, is_held: bool = False) -> None:
        """name: for sentences. is_held: this process has the schema's lock alone. Raises psycopg's errors."""
        self._is_held = is_held
        self._name, self._schema, self._size = name, schema, 0
        self._refusals = Refusals()
        self._working: set[psycopg.Connection] = set()
        self._pool = ConnectionPool(
            conninfo,
            kwargs={"autocommit": True, "prepare_threshold": 0},
            min_size=1,
            max_size=CONNECTIONS,
            timeout=WAIT_SECONDS,
            reconnect_timeout=WAIT_SECONDS,  # else its pauses grow as long as the outage was
            configure=self._configure,
            open=False,
        )
        self._pool.open(wait=True, timeout=WAIT_SECONDS)
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="postgres")
        self._writes = 0
        self._analyze()

    @override
    async def run(self, work: Callable[[Cursor], T], access: Access = Access.WRITING, workspace: str = EVERY_WORKSPACE) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._transact, work, access, workspace)

    @override
    async def flush(self, sessions: Sequence[str]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._threads, self._vacuum, list(sessions))

    def _vacuum(self, sessions: list[str]) -> None:
        """A plain VACUUM leaves the bytes of dead rows in free space; to write a table anew locks everybody out."""
        with self._translated(), self._pool.connection() as connection:
            numbers = connection.execute(_PARTITIONS, (sessions,)).fetchall()
            connection.execute("SELECT set_config('lock_timeout', %s, false)", (LOCK_WAIT,))
            try:
                for table in (*(f"{name}_{number}" for name in PARTITIONED for (number,) in numbers), "tags"):
                    ((size,),) = connection.execute("SELECT pg_total_relation_size(%s::regclass)", (table,)).fetchall()
                    with suppress(psycopg.errors.LockNotAvailable):  # somebody reads it; the repeat a minute later tries again
                        full = SQL("VACUUM (FULL) {}") if size <= MAX_REWRITE_BYTES else SQL("VACUUM {}")
                        connection.execute(full.format(Identifier(table)), prepare=False)
            finally:
                connection.execute("RESET lock_timeout")

    @override
    async def check(self) -> str:
        try:
            ((self._size,),) = await self.rows(_SIZE)
        except Unavailable as error:
            return str(error)
        return ""

    @property
    @override
    def refusal(self) -> str:
        return self._refusals.newest

    @override
    def size_bytes(self) -> int:
        return self._size

    @override
    def free_bytes(self) -> int | None:
        return None

    @override
    def close(self) -> None:
        cut = Timer(WAIT_SECONDS, self._cut)
        cut.start()
        self._threads.shutdown()
        cut.cancel()
        self._pool.close()

    def _cut(self) -> None:
        """End what waits for a server that does not answer."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._pool.close()
        for connection in tuple(self._working):
            with suppress(OSError, psycopg.Error), socket(fileno=os.dup(connection.fileno())) as line:
                line.shutdown(SHUT_RDWR)

    def _transact(self, work: Callable[[Cursor], T], access: Access, workspace: str) -> T:
        begin = SQL("{}; SET LOCAL context_builder.workspace = {}").format(SQL(_BEGIN[access]), Literal(workspace))
        with self._refusals.noting(work, access), self._translated():
            result = self._attempt(work, begin)
        if access is Access.WRITING:
            self._writes += 1
            if self._writes.bit_count() == 1:
                self._analyze()
        return result

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            sentence = f"the store {self._name} failed: {error}; look at PostgreSQL's log, its disk and its max_connections"
            raise Unavailable(sentence) from error

    def _analyze(self) -> None:
        """Let the planner know tables that have doubled: they are young, or were copied or restored.

        Else it takes them for a few rows, and walks one for each row of another. Autovacuum comes after a minute, or never.
        """
        with suppress(psycopg.Error), self._pool.connection() as connection:
            for (table,) in connection.execute(_GROWN).fetchall():
                connection.execute(f"ANALYZE {table}".encode())

    @stamina.retry(on=RACES, attempts=5, wait_initial=0.01, wait_max=0.1)
    def _attempt(self, work: Callable[[Cursor], T], begin: Composed) -> T:
        with self._transaction(begin) as connection:
            return work(PostgresCursor(connection))

    @contextmanager
    def _transaction(self, begin: Composed) -> Iterator[psycopg.Connection]:
        for last in (*[False] * CONNECTIONS, True):  # after a failover all that wait in the pool are lost
            with self._pool.connection() as connection, self._registration(connection):
                try:
                    connection.execute(begin, prepare=False)
                except psycopg.OperationalError:
                    if last:
                        raise
                    continue
                yield connection
                return

    @contextmanager
    def _registration(self, connection: psycopg.Connection) -> Iterator[None]:
        self._working.add(connection)
        try:
            yield
        finally:
            self._working.discard(connection)

    def _configure(self, connection: psycopg.Connection) -> None:
        connection.prepared_max = 500
        connection.execute(SEARCH_PATH, (self._schema, False))
        for name, value in (PLANNER | LIMITS).items():
            connection.execute(SQL("SET {} = {}").format(Identifier(name), Literal(value)))
        if not self._is_held:
            connection.execute("SELECT pg_advisory_lock_shared(hashtextextended(current_schema(), 0))")
        adapt(connection)
