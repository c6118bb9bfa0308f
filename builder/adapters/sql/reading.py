"""Versions of a breadcrumb, breadcrumbs of a session, the newest ones of sessions, and what answers what."""

from builder.adapters.sql.connection import Cursor
from builder.adapters.sql.rows import HELD_COLUMNS
from builder.domain.breadcrumb import Place

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
VERSIONS = f"""
    SELECT {HELD_COLUMNS} FROM breadcrumbs AS held INDEXED BY breadcrumbs_identity
    WHERE held.workspace = ? AND held.id = ? AND held.removes = '' AND NOT EXISTS ({_REMOVED})
    ORDER BY held.incarnation, held.sequence, held.session
"""
SESSION = f"""
    SELECT {HELD_COLUMNS} FROM breadcrumbs AS held
    WHERE held.workspace = ? AND held.session = ? AND held.removes = ''
      AND (held.incarnation, held.sequence) > (?, ?) AND (held.incarnation, held.sequence) < (?, ?)
      AND NOT EXISTS ({_REMOVED}) AND NOT EXISTS ({_REPLACED})
    ORDER BY held.incarnation {{order}}, held.sequence {{order}} LIMIT ?
"""

# Backwards by place: sessions in use come first, so few rows are looked at.
LATEST = f"""
    SELECT {HELD_COLUMNS} FROM breadcrumbs AS held INDEXED BY breadcrumbs_places
    WHERE held.workspace = ? AND held.session <> ? AND held.removes = '' AND (held.incarnation, held.sequence) < (?, ?)
      AND NOT EXISTS (
        SELECT 1 FROM breadcrumbs AS later WHERE later.workspace = held.workspace AND later.session = held.session
          AND later.removes = '' AND (later.incarnation, later.sequence) > (held.incarnation, held.sequence)
      )
    ORDER BY held.incarnation DESC, held.sequence DESC LIMIT ?
"""


def chain(sql: Cursor, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
    """`Reader.chain`."""
    walked: dict[str, None] = {}
    while identity and identity not in walked and len(walked) < limit:
        walked[identity] = None
        row = next(sql.execute(_ANSWERS, (workspace, identity, *until)), None)
        identity = row[0] if row else ""
    return tuple(walked)
