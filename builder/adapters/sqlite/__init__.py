"""The embedded store: one SQLite file through apsw, WAL, vectors as float16."""

from builder.adapters.sqlite.connection import in_use
from builder.adapters.sqlite.joins import Asked
from builder.adapters.sqlite.store import SqliteStore

__all__ = ["Asked", "SqliteStore", "in_use"]
