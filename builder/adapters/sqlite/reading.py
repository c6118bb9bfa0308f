"""The SQL of `Reader`."""

from typing import Any

import apsw

from builder.adapters.sqlite.rows import HELD_COLUMNS, from_columns
from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place

# By id, wherever they stand: left alone, SQLite walks all places of the workspace.
_ANSWERS = """
    SELECT answers FROM breadcrumbs INDEXED BY breadcrumbs_identity
    WHERE workspace = ? AND id = ? AND (incarnation, sequence) <= (?, ?)
    ORDER BY incarnation, sequence LIMIT 1
"""
_REMOVED = """
    SELECT 1 FROM breadcrumbs AS later INDEXED BY breadcrumbs_tombstones
    WHERE later.workspace = held.workspace AND later.removes = held.id AND later.removes <> ''
      AND later.session IN (held.session, ?) AND (later.incarnation, later.sequence) > (held.incarnation, held.sequence)
"""
_REPLACED = """
    SELECT 1 FROM breadcrumbs AS later INDEXED BY breadcrumbs_identity
    WHERE later.workspace = held.workspace AND later.id = held.id AND later.version > held.version AND later.erased = ''
      AND later.session IN (held.session, ?)
"""
_VERSIONS = f"""
    SELECT {HELD_COLUMNS} FROM breadcrumbs AS held INDEXED BY breadcrumbs_identity
    WHERE held.workspace = ? AND held.id = ? AND held.removes = '' AND NOT EXISTS ({_REMOVED})
    ORDER BY held.incarnation, held.sequence, held.session
"""
_SESSION = f"""
    SELECT {HELD_COLUMNS} FROM breadcrumbs AS held
    WHERE held.workspace = ? AND held.session = ? AND held.removes = ''
      AND (held.incarnation, held.sequence) > (?, ?) AND (held.incarnation, held.sequence) < (?, ?)
      AND NOT EXISTS ({_REMOVED}) AND NOT EXISTS ({_REPLACED})
    ORDER BY held.incarnation {{order}}, held.sequence {{order}} LIMIT ?
"""


def chain(sql: apsw.Connection, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
    """`Reader.chain`."""
    walked: dict[str, None] = {}
    while identity and identity not in walked and len(walked) < limit:
        walked[identity] = None
        row = next(sql.execute(_ANSWERS, (workspace, identity, *until)), None)
        identity = row[0] if row else ""
    return tuple(walked)


def versions(sql: apsw.Connection, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
    """`Reader.versions`."""
    return nouns(sql.execute(_VERSIONS, (workspace, identity, NO_SESSION)))


def list_session(
    sql: apsw.Connection, workspace: str, session: str, span: tuple[Place, Place], limit: int, newest: bool
) -> tuple[Breadcrumb, ...]:
    """`Reader.list_session`."""
    text = _SESSION.format(order="DESC" if newest else "ASC")
    return nouns(sql.execute(text, (workspace, session, *span[0], *span[1], NO_SESSION, NO_SESSION, limit)))


def nouns(rows: Any) -> tuple[Breadcrumb, ...]:
    """rows: values of BREADCRUMB_COLUMNS."""
    return tuple(from_columns(row, (), "").breadcrumb for row in rows)
