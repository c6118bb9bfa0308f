"""The shared store: a schema of a PostgreSQL database with pgvector."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from importlib.resources import files
from uuid import uuid4

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier
from typing_extensions import override

from builder.adapters.sql.copying import refuse_unfinished
from builder.adapters.sql.store import SqlStore
from builder.domain.errors import BuilderError, Misconfigured, Unavailable
from builder.extras.postgres.connection import SEARCH_PATH, WAIT_SECONDS, PostgresConnection
from builder.ports.store import CompleteStore, StoreLocation

__all__ = ["PostgresLocation"]

log = logging.getLogger("builder.store")

SCHEMA = "context_builder"
REBUILD = f"{SCHEMA}_reindex"
"""Begins the name of a rebuild's schema; a run's own name follows."""
DEFAULTS = {
    "connect_timeout": str(int(WAIT_SECONDS)),
    "tcp_user_timeout": "10000",
    "keepalives_idle": "5",  # a host that is gone says nothing; after 15 s its connections are lost
    "keepalives_interval": "5",
    "keepalives_count": "2",
    "application_name": "context-builder",
}
NO_URL = (
    "the store's URL is none of PostgreSQL; write postgresql://USER:PASSWORD@HOST:5432/DATABASE, and other characters of the "
    "password than letters and digits as in %40 for @"
)
"""Without what libpq says: it quotes pieces of the password."""
_REFUSED = re.compile("authentication failed|no password supplied|no pg_hba.conf entry|(database|role) .* does not exist")
"""The server answers, and waiting does not help. libpq hands on no SQLSTATE of a login."""
_MIGRATIONS = files(__package__) / "migrations"


class PostgresLocation(StoreLocation):
    """A schema of a database; its tables are made and brought to this release when it is opened."""

    def __init__(self, conninfo: str, schema: str = SCHEMA, *, is_held: bool = False) -> None:
        """conninfo: as libpq takes it. is_held: this process has the schema's lock alone. Raises `Misconfigured`."""
        try:
            parameters = conninfo_to_dict(conninfo)
        except psycopg.Error:
            raise Misconfigured(NO_URL) from None
        missing = {name: DEFAULTS[name] for name in DEFAULTS if name not in parameters}
        self._conninfo, self._schema, self._is_held = make_conninfo(conninfo, **missing), schema, is_held
        host, port = parameters.get("host") or "localhost", parameters.get("port") or 5432
        place = f"{host}:{port}/{parameters.get('dbname') or parameters.get('user') or ''}"
        if "@" in place or not re.fullmatch(r"[\d,]*", str(port)):  # then these are pieces of a password
            raise Misconfigured(NO_URL)
        self._name = f"postgresql://{place}"

    @property
    @override
    def name(self) -> str:
        return self._name if self._schema == SCHEMA else f"{self._name} schema {self._schema}"

    @override
    async def exists(self) -> bool:
        def work() -> bool:
            with self._connection() as connection:
                return _has_tables(connection, self._schema)

        return await asyncio.to_thread(work)

    @override
    @asynccontextmanager
    async def open(self) -> AsyncIterator[CompleteStore]:
        store = await asyncio.to_thread(self.open_store)
        try:
            if not self._is_held:
                await refuse_unfinished(store.connection, self.name)
            yield store
        finally:
            await asyncio.to_thread(store.close)

    @override
    @asynccontextmanager
    async def alone(self) -> AsyncIterator[StoreLocation]:
        async with self._locked():
            yield PostgresLocation(self._conninfo, self._schema, is_held=True)

    @override
    @asynccontextmanager
    async def rebuild(self) -> AsyncIterator[tuple[StoreLocation | None, StoreLocation]]:
        fresh = f"{REBUILD}_{uuid4().hex[:8]}"
        async with self._locked() as connection:
            own = PostgresLocation(self._conninfo, self._schema, is_held=True)
            old = own if await own.exists() else None
            try:
                yield old, PostgresLocation(self._conninfo, fresh)
                await asyncio.to_thread(_replace, connection, self._schema, fresh)
            except BaseException:
                with suppress(psycopg.Error):  # the next start removes it
                    await asyncio.to_thread(_drop, connection, fresh)
                raise

    def open_store(self) -> SqlStore:
        """The open store; close it."""
        with self._connection() as connection:
            if not self._is_held:
                _claim(connection, self.name, self._schema, "pg_advisory_lock_shared")
                _sweep(connection, self._schema)
            _migrate(connection, self._conninfo, self._schema)
            try:
                return SqlStore(PostgresConnection(self._conninfo, self.name, self._schema, is_held=self._is_held))
            except psycopg.Error as error:
                raise self._unavailable(error) from error

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[psycopg.Connection]:
        """A connection that has the schema's lock alone: its end lets go of it."""

        def lock() -> psycopg.Connection:
            connection = stack.enter_context(self._connection())
            _claim(connection, self._name, self._schema, "pg_advisory_lock")
            _sweep(connection, self._schema)
            return connection

        with ExitStack() as stack:
            connection = await asyncio.to_thread(lock)
            yield connection

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection]:
        try:
            with psycopg.connect(self._conninfo, autocommit=True) as connection:
                if (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
                    raise Misconfigured(f"the database of {self.name} has the encoding {encoding}; make one with ENCODING 'UTF8'")
                yield connection
        except psycopg.OperationalError as error:
            raise self._unavailable(error) from error
        except psycopg.Error as error:
            extension = "let an administrator run CREATE EXTENSION vector in it, of pgvector 0.8 or newer"
            remedy = extension if "vec" in str(error) else "look at its user's rights"  # vector, halfvec
            raise Misconfigured(f"the store {self.name} cannot be used: {error}; {remedy}") from error

    def _unavailable(self, error: psycopg.Error) -> BuilderError:
        kind = Misconfigured if _REFUSED.search(str(error)) else Unavailable
        return kind(f"the store {self.name} cannot be reached: {error}; is PostgreSQL up, and CONTEXT_BUILDER_STORE__URL right?")


def _claim(connection: psycopg.Connection, name: str, schema: str, lock: str) -> None:
    """Take the lock that every user of a schema shares, and that maintenance has alone. Raises `Misconfigured`."""
    connection.execute("SET lock_timeout = '500ms'")  # a store that was just closed gives its locks back in a moment
    try:
        connection.execute(SQL("SELECT {}(hashtextextended(%s, 0))").format(Identifier(lock)), (schema,))
    except psycopg.errors.LockNotAvailable as error:
        by = "in use; stop the service" if lock == "pg_advisory_lock" else "under maintenance by a command; wait for its end"
        raise Misconfigured(f"the store {name} is {by}, then run the command again") from error
    connection.execute("SET lock_timeout = 0")


def _sweep(connection: psycopg.Connection, schema: str) -> None:
    """Drop what rebuilds that were killed have left. Nobody rebuilds the schema now."""
    if schema != SCHEMA:
        return
    rows = connection.execute("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)", (REBUILD,)).fetchall()
    for (name,) in rows:
        with suppress(psycopg.errors.InsufficientPrivilege):
            _drop(connection, name)


def _drop(connection: psycopg.Connection, schema: str) -> None:
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (SCHEMA,))
        connection.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(schema)))


def _replace(connection: psycopg.Connection, schema: str, fresh: str) -> None:
    with connection.transaction():
        connection.execute("SET LOCAL lock_timeout = '10s'")
        connection.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(schema)))
        connection.execute(SQL("ALTER SCHEMA {} RENAME TO {}").format(Identifier(fresh), Identifier(schema)))


def _migrate(connection: psycopg.Connection, conninfo: str, schema: str) -> None:
    newest = max(item.name[:4] for item in (_MIGRATIONS / "versions").iterdir() if item.name[:4].isdigit())
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (schema,))
        if _has_tables(connection, schema):
            query = SQL("SELECT version_num FROM {}.migrations").format(Identifier(schema))
            (level,) = connection.execute(query).fetchone() or ("",)
            if level > newest:
                log.warning(
                    "the store has migration %s of a newer release, this one knows %s; migrations only add", level, newest
                )
            if level >= newest:
                return
        else:
            # To ask for a schema that is there takes rights on the database, too.
            if connection.execute("SELECT to_regnamespace(%s)", (schema,)).fetchone() == (None,):
                connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(schema)))
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    _upgrade(conninfo, schema)


def _has_tables(connection: psycopg.Connection, schema: str) -> bool:
    (table,) = connection.execute("SELECT to_regclass(%s)", (f"{schema}.migrations",)).fetchone() or (None,)
    return table is not None


def _upgrade(conninfo: str, schema: str) -> None:
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import NullPool, create_engine
    from sqlalchemy.exc import DBAPIError

    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(conninfo), poolclass=NullPool)
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (schema,))
            connection.exec_driver_sql(SEARCH_PATH, (schema, True))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except DBAPIError as error:
        raise (error.orig or error) from error
