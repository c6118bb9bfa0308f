"""The embedded store: one SQLite file through apsw, WAL, vectors as float16."""

from builder.adapters.sqlite.location import SqliteLocation
from builder.adapters.sqlite.store import SqliteStore

__all__ = ["SqliteLocation", "SqliteStore"]
