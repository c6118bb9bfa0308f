"""The files of a store on disk: the SQLite file and its log."""

import shutil
from pathlib import Path

import apsw

from builder.domain.errors import Misconfigured

MEMORY = ":memory:"
"""The path of a store without a file."""
DAMAGE = (apsw.NotADBError, apsw.CorruptError)
"""How SQLite says that a file is damaged."""
DAMAGED = (
    "the store {} is damaged ({}); run `context-builder reindex`: it moves the file aside and makes the store again from the "
    "stream; or name another file in CONTEXT_BUILDER_STORE__URL, if this one is no store"
)
"""For the path and SQLite's reason."""


def file_bytes(path: str) -> int:
    """Bytes of the file and its log."""
    file = Path(path)
    return sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*") if part.is_file())


def free_bytes(path: str) -> int | None:
    """Bytes free in the file system of the file; None for a store without a file."""
    return None if path == MEMORY else shutil.disk_usage(Path(path).parent).free


def remove(path: Path, aside: str = "") -> None:
    """Remove the file and its log, or give them the name `aside`. Raises `Misconfigured`."""
    try:
        for suffix in ("", "-wal", "-shm"):
            part = path.with_name(path.name + suffix)
            if aside and part.exists():
                part.rename(path.with_name(aside + suffix))
            part.unlink(missing_ok=True)
    except OSError as error:
        raise Misconfigured(f"{path.parent} cannot be written: {error.strerror}; check its rights and its disk") from error


def damage(path: Path) -> str:
    """Why the file is no whole store, after reading all of it; empty when it is one, or is not there.

    Raises `Misconfigured` while another process (or connection) has it open, as far as a damaged one lets this be told, and e.g.
    for a read-only disk.
    """
    if not path.exists():
        return ""
    connection = apsw.Connection(str(path))
    try:
        # In WAL mode an exclusive lock is only given to the file's one user.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
        (answer,) = next(connection.execute("PRAGMA quick_check(1)"))
    except apsw.BusyError as error:
        raise Misconfigured(f"the store {path} is in use; stop the service, then run `context-builder reindex` again") from error
    except DAMAGE as error:
        return str(error)
    except apsw.Error as error:
        raise Misconfigured(f"the store {path} cannot be opened for writing: {error}; check its rights and its disk") from error
    finally:
        connection.close()
    return "" if answer == "ok" else str(answer)
