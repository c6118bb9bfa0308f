"""How much room there is: for the store and the embedded broker's streams, which share the data directory."""

import asyncio
import shutil
from pathlib import Path

from builder.adapters.sqlite import SqliteStore

LOW_BYTES = 100_000_000
"""Free bytes below which an operator should act."""


def free_bytes(folder: Path) -> int:
    """Of the file system that the folder lies on."""
    return shutil.disk_usage(folder).free


def file_bytes(store: Path) -> int:
    """Of the SQLite file and its log."""
    return sum(part.stat().st_size for part in store.parent.glob(f"{store.name}*") if part.is_file())


async def store_state(store: SqliteStore, folder: Path) -> str:
    """What is wrong with writing to the store, or soon will be; empty when nothing is."""
    if store.refusal:
        return store.refusal
    free = await asyncio.to_thread(free_bytes, folder)
    return f"{folder} has {free / 1e6:,.0f} MB left; free some, or set CONTEXT_BUILDER_DATA_DIR" if free < LOW_BYTES else ""
