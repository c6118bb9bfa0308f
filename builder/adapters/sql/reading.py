"""Reads beside a recall: versions and sessions, pinned breadcrumbs, missing vectors."""

import heapq
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from builder.adapters.sql.connection import Cursor, Row, Vector
from builder.adapters.sql.rows import BREADCRUMB_COLUMNS, HELD_COLUMNS, KEY, from_columns, indexed, key_of, passages_by_place
from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.recall import Passage, RecallQuery, StoredBreadcrumb
from builder.domain.selector import Pinned, Selector

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


_UNTIL = "(held.incarnation, held.sequence) <= (?, ?) ORDER BY held.incarnation DESC, held.sequence DESC LIMIT ?"
# One query for each session: asked for two at once, SQLite sorts all that it finds before it gives the first.
# Left alone, it walks the whole workspace backwards by place until it meets the schema, which may never come.
_BY_SCHEMA = (
    f"SELECT {HELD_COLUMNS} FROM breadcrumbs AS held INDEXED BY breadcrumbs_latest "
    f"WHERE held.workspace = ? AND held.schema = ? AND held.session = ? AND {_UNTIL}"
)
_BY_TAG = (
    f"SELECT {BREADCRUMB_COLUMNS} FROM tags AS held CROSS JOIN breadcrumbs USING (workspace, session, incarnation, sequence) "
    f"WHERE held.workspace = ? AND held.tag = ? AND held.session = ? AND {_UNTIL}"
)
_BY_ID = (
    f"SELECT {HELD_COLUMNS} FROM breadcrumbs AS held WHERE held.workspace = ? AND held.id = ? AND held.session = ? AND {_UNTIL}"
)
_IN_SESSION = "workspace = ?1 AND session IN (?3, ?4) AND erased = '' AND (incarnation, sequence) <= (?7, ?8)"
# Asked for both at once, it walks everything that came later.
_FIRST_PAGE = 8
_GONE = (
    f"SELECT 1 FROM breadcrumbs INDEXED BY breadcrumbs_identity WHERE id = ?2 AND version > ?9 AND {_IN_SESSION} "
    "UNION ALL SELECT 1 FROM breadcrumbs INDEXED BY breadcrumbs_tombstones WHERE removes = ?2 AND removes <> '' "
    f"AND (incarnation, sequence) > (?5, ?6) AND {_IN_SESSION}"
)


def find_pinned(sql: Cursor, query: RecallQuery, kind: Pinned) -> tuple[StoredBreadcrumb, ...]:
    """Matches without passages, newest first."""
    matches: list[StoredBreadcrumb] = []
    query = replace(query, session=NO_SESSION) if kind.of_no_session else query
    for row in _candidates(sql, query, kind.selector):
        row_noun = from_columns(row, (), "")
        crumb = row_noun.breadcrumb
        if kind.selector.matches(crumb) and not crumb.removes and not _is_gone(sql, query, row):
            matches.append(row_noun)
            if len(matches) == kind.limit:
                break
    return tuple(matches)


def _candidates(sql: Cursor, query: RecallQuery, selector: Selector) -> Iterator[Row]:
    tags = tuple(map(indexed, selector.any_tags or selector.all_tags[:1]))
    text, values = (_BY_ID, selector.ids) if selector.ids else (_BY_TAG, tags) if tags else (_BY_SCHEMA, selector.schemas)
    sessions = dict.fromkeys((query.session, NO_SESSION))
    runs = [
        _newest_first(sql, text, (query.scope.workspace, value, session), query.until)
        for value in dict.fromkeys(values)
        for session in sessions
    ]
    before = None
    for row in heapq.merge(*runs, key=lambda row: (int(row[2]), int(row[3]), str(row[1])), reverse=True):
        if row[:4] != before:
            yield row
        before = row[:4]


def _newest_first(sql: Cursor, text: str, values: tuple[str, str, str], until: Place) -> Iterator[Row]:
    limit = _FIRST_PAGE
    while rows := list(sql.execute(text, (*values, *until, limit))):
        yield from rows
        if len(rows) < limit:
            return
        until, limit = Place(*rows[-1][2:4]).previous, 2 * limit


def _is_gone(sql: Cursor, query: RecallQuery, row: Row) -> bool:
    workspace, session, incarnation, sequence, identity, version = row[:6]
    values = (workspace, identity, session, NO_SESSION, incarnation, sequence, *query.until, version)
    return next(sql.execute(_GONE, values), None) is not None


_ADD_MODEL = "INSERT INTO models SELECT coalesce(max(number), 0) + 1, ? FROM models WHERE TRUE"
_OLDEST = f"""
    SELECT {BREADCRUMB_COLUMNS} FROM lacking CROSS JOIN breadcrumbs USING (workspace, session, incarnation, sequence)
    WHERE (incarnation, sequence, workspace, session) > (?, ?, ?, ?)
    ORDER BY incarnation, sequence, workspace, session LIMIT ?
"""
_VECTORS = f"SELECT vector, name FROM passages JOIN models ON number = model WHERE {KEY} ORDER BY ordinal"
_BEFORE_ALL = (-1, -1, "", "")


def oldest_missing(sql: Cursor, limit: int, after: Breadcrumb | None) -> Iterator[tuple[Any, ...]]:
    """BREADCRUMB_COLUMNS, oldest first. CROSS JOIN: SQLite walks the short list."""
    start = (*after.place, after.workspace, after.session) if after else _BEFORE_ALL
    return sql.execute(_OLDEST, (*start, limit))


def model_number(sql: Cursor, name: str) -> int:
    """The number of a model, new or known. No write where it is known: writers of one row wait for each other."""
    find = "SELECT number FROM models WHERE name = ?"
    if not list(sql.execute(find, (name,))):
        sql.execute(f"{_ADD_MODEL} ON CONFLICT (name) DO NOTHING", (name,))
    return int(next(sql.execute(find, (name,)))[0])


def fill_vectors(sql: Cursor, remembered: StoredBreadcrumb) -> bool:
    """Write vectors and model, once."""
    key = key_of(remembered.breadcrumb)
    sql.execute(f"DELETE FROM lacking WHERE {KEY}", key)
    if not sql.changes():
        return False
    model = model_number(sql, remembered.model)
    sql.executemany(
        f"UPDATE passages SET vector = ?, model = ? WHERE {KEY} AND ordinal = ?",
        [(Vector(passage.vector), model, *key, ordinal) for ordinal, passage in enumerate(remembered.passages)],
    )
    return True


def vectors(sql: Cursor, crumb: Breadcrumb, model: str) -> tuple[bytes, ...]:
    """Vectors of its passages in order; () unless all are by `model`."""
    rows = list(sql.execute(_VECTORS, key_of(crumb)))
    return tuple(vector or b"" for vector, name in rows) if all(name == model for _, name in rows) else ()


_ITS_PASSAGES = f"""SELECT session, incarnation, sequence, start, stop, terms, vector, tokens, traits, models.name
    FROM passages JOIN models ON number = model WHERE {KEY} ORDER BY ordinal"""


def with_passages(sql: Cursor, row: tuple[Any, ...], model: str = "") -> StoredBreadcrumb:
    """The noun of a row, read with its passages. model: whose vectors; "" = the stored ones."""
    return with_its_passages(sql, from_columns(row, (), ""), model)


def with_its_passages(sql: Cursor, bare: StoredBreadcrumb, model: str) -> StoredBreadcrumb:
    """The same with passages."""
    rows = list(sql.execute(_ITS_PASSAGES, key := key_of(bare.breadcrumb)))
    model = model or (rows[0][-1] if rows else "")
    passages = passages_by_place(iter(rows), model).get(key[1:], ())
    return replace(bare, passages=passages, model=model)


def recalled(sql: Cursor, row: tuple[Any, ...], passages: tuple[Passage, ...] | None, model: str) -> StoredBreadcrumb:
    """The noun of a row that ends with JOINS. passages: None = they are read."""
    noun = from_columns(row, passages, model) if passages is not None else with_passages(sql, row, model)
    return replace(noun, joins=row[-1]) if row[-1] else noun
