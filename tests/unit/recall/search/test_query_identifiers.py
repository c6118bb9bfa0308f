"""Identifiers of a query come with their terms."""

from builder.recall.search.query import identifier_terms
from tests.factories import (
    make_terms,
)


def test_identifiers_come_with_their_terms() -> None:
    assert identifier_terms("Is v2.3 in app.py?", make_terms) == {
        name: frozenset(make_terms(name).split()) for name in ("v2.3", "app.py")
    }
