"""The SQL of `TokenVectors`: written with the passages, read for the best of them only."""

import apsw

from builder.adapters.sqlite.rows import key_of
from builder.domain.facts import PassageKey, Remembered

_INSERT = "INSERT INTO token_vectors VALUES (?, ?, ?, ?, ?, ?, ?)"
_READ = (
    "SELECT vectors FROM token_vectors JOIN models ON number = model "
    "WHERE workspace = ? AND session = ? AND incarnation = ? AND sequence = ? AND ordinal = ? AND name = ?"
)


def keep(sql: apsw.Connection, remembered: Remembered, model: int) -> None:
    """Write what the passages bring; they bring none unless late interaction is on."""
    key = key_of(remembered.breadcrumb)
    brought = [(*key, n, model, held.token_vectors) for n, held in enumerate(remembered.passages) if held.token_vectors]
    sql.executemany(_INSERT, brought)


def read(sql: apsw.Connection, workspace: str, passages: tuple[PassageKey, ...], model: str) -> tuple[bytes, ...]:
    """One look-up a passage: they lie all over the table."""
    return tuple(_one(sql, (workspace, key.session, *key.place, key.ordinal, model)) for key in passages)


def _one(sql: apsw.Connection, values: tuple[str | int, ...]) -> bytes:
    row = next(sql.execute(_READ, values), None)
    return row[0] if row else b""
