"""A pool of connections, each with a thread; the driver's errors become ours here."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg.sql import SQL, Composed, Identifier, Literal
from psycopg_pool import ConnectionPool
from typing_extensions import override

from builder.adapters.postgres.cursor import PostgresCursor, adapt
from builder.adapters.sql.connection import EVERY_WORKSPACE, Access, Connection, Cursor, Refusals
from builder.domain.errors import Unavailable

CONNECTIONS = 4
"""Of a worker: as many deliveries as are in work at once."""
WAIT_SECONDS = 5.0
"""For a connection, before the store is called unavailable."""
PLANNER = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "jit": "off",
}
"""Every statement walks an index and reads little: without statistics, as after a bulk load, a plan of another kind reads all."""
T = TypeVar("T")

_BEGIN = {
    Access.READING: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    Access.WRITING: "BEGIN",
}
_SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""


class PostgresConnection(Connection):
    """Connections to one schema of a database; a lost one is replaced."""

    def __init__(self, conninfo: str, name: str, schema: str) -> None:
        """name: for sentences. Raises psycopg's errors."""
        self._name, self._schema, self._size = name, schema, 0
        self._refusals = Refusals()
        self._pool = ConnectionPool(
            conninfo,
            kwargs={"autocommit": True, "prepare_threshold": 0},
            min_size=1,
            max_size=CONNECTIONS,
            timeout=WAIT_SECONDS,
            configure=self._configure,
            open=False,
        )
        self._pool.open(wait=True, timeout=WAIT_SECONDS)
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="postgres")

    @override
    async def run(self, work: Callable[[Cursor], T], access: Access = Access.WRITING, workspace: str = EVERY_WORKSPACE) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._transact, work, access, workspace)

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
        self._threads.shutdown()
        self._pool.close()

    def _transact(self, work: Callable[[Cursor], T], access: Access, workspace: str) -> T:
        begin = SQL("{}; SET LOCAL context_builder.workspace = {}").format(SQL(_BEGIN[access]), Literal(workspace))
        with self._refusals.noting(work, access):
            try:
                with self._transaction(begin) as connection:
                    return work(PostgresCursor(connection))
            except psycopg.Error as error:
                sentence = f"the store {self._name} failed: {error}; look at PostgreSQL's log, its disk and its max_connections"
                raise Unavailable(sentence) from error

    @contextmanager
    def _transaction(self, begin: Composed) -> Iterator[psycopg.Connection]:
        for last in (*[False] * CONNECTIONS, True):  # after a failover all that wait in the pool are lost
            with self._pool.connection() as connection:
                try:
                    connection.execute(begin, prepare=False)
                except psycopg.OperationalError:
                    if last:
                        raise
                    continue
                yield connection
                return

    def _configure(self, connection: psycopg.Connection) -> None:
        connection.prepared_max = 500
        connection.execute(SQL("SET search_path = {}, public").format(Identifier(self._schema)))
        for name, value in PLANNER.items():
            connection.execute(SQL("SET {} = {}").format(Identifier(name), Literal(value)))
        connection.execute("SELECT pg_advisory_lock_shared(hashtextextended(current_schema(), 0))")
        adapt(connection)
