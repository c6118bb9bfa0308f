"""A row with its passages."""

from dataclasses import replace
from typing import Any

from builder.adapters.sql.connection import Cursor
from builder.adapters.sql.rows import KEY, from_columns, key_of, passages_by_place
from builder.domain.stored import Passage, StoredBreadcrumb

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
