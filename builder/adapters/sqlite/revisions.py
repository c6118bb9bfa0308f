"""The SQL of `Recall.revision`: a counter per session, raised whenever rows that may have been read already change."""

from collections.abc import Iterable

import apsw


def revise(sql: apsw.Connection, sessions: Iterable[tuple[str, str]]) -> None:
    """Raise the revision of each of these by one. sessions: with their workspaces."""
    text = "INSERT INTO revisions VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET number = number + 1"
    sql.executemany(text, list(sessions))


def revision(sql: apsw.Connection, scope: str, values: tuple[str, ...]) -> int:
    """How often the scope, a condition and its values, was revised."""
    return int(next(sql.execute(f"SELECT coalesce(sum(number), 0) FROM revisions WHERE {scope}", values))[0])
