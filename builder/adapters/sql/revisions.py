"""How often a session was revised: rows that were read under another revision are out of date."""

from collections.abc import Iterable

from builder.adapters.sql.connection import Cursor


def revise(sql: Cursor, sessions: Iterable[tuple[str, str]]) -> None:
    """Raise the revision of each session by one."""
    text = "INSERT INTO revisions VALUES (?, ?, 1) ON CONFLICT (workspace, session) DO UPDATE SET number = revisions.number + 1"
    sql.executemany(text, sorted(sessions))


def revision(sql: Cursor, scope: str, values: tuple[str, ...]) -> int:
    """How often the scope, a condition and its values, was revised."""
    return int(next(sql.execute(f"SELECT coalesce(sum(number), 0) FROM revisions WHERE {scope}", values))[0])
