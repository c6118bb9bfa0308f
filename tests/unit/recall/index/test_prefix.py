"""What consumers share of a history, and what they must not."""

import numpy as np
import pytest

from builder.domain.selector import Selector
from builder.recall.index.view import View
from builder.recall.recall import visible_to
from builder.recall.search.retrieval import RetrievalResult, retrieve
from tests.factories import (
    BY_HAND,
    FAR,
    bare,
    extend,
    make_breadcrumb,
    make_history,
    make_profile,
    make_query,
    make_remembered,
    make_terms,
    make_vector,
    view_of,
)

ROWS = [
    make_remembered("The kiln in Delft has order number 31.", 1, tags=("to:mira",)),
    make_remembered("The kiln in Leiden has order number 32.", 2, tags=("to:otto",)),
    make_remembered("The wheel is by the window.", 3, tags=("to:mira", "to:otto")),
]
QUERY = make_query("Which order number has the kiln?")


def seen_by(view: View, consumer: str) -> View:
    profile = make_profile(audience=Selector(any_tags=(f"to:{consumer}",)))
    return visible_to(view, profile, make_breadcrumb("Which order number has the kiln?", 9), ())


def finds(view: View) -> RetrievalResult:
    rules = make_profile(retrieval={"min_probability": None, "similarity_threshold": 0}).retrieval
    return retrieve(QUERY, view, rules, BY_HAND, frozenset(), 1000, make_terms)


@pytest.mark.parametrize("order", [("mira", "otto"), ("otto", "mira")])
def test_consumers_with_different_visibility_do_not_see_each_others_cached_values(order: tuple[str, str]) -> None:
    shared = view_of(make_history(ROWS), FAR)
    for consumer in order:
        view = seen_by(shared, consumer)
        assert view.prefix is shared.prefix
        alone = finds(seen_by(view_of(make_history(ROWS), FAR), consumer))
        assert [find.row for find in finds(view).finds] == [find.row for find in alone.finds]
        hidden = {"mira": 1, "otto": 0}[consumer]
        assert hidden not in {find.row for find in alone.finds}


def test_what_is_cached_is_computed_once() -> None:
    prefix = view_of(make_history(ROWS), FAR).prefix
    assert prefix.cosines(QUERY.vector) is prefix.cosines(QUERY.vector)
    assert prefix.occurrences("kiln") is prefix.occurrences("kiln")
    assert prefix.neighbours is prefix.neighbours


def test_a_prefix_is_kept_until_something_comes() -> None:
    history = make_history([ROWS[0], bare(ROWS[1])])
    prefix = history.prefix(2)
    assert history.prefix(2) is prefix
    assert history.prefix(1) is not prefix
    prefix = history.prefix(2)
    assert history.fill({1: (make_vector("kiln"),)})
    assert history.prefix(2) is prefix
    extend(history, (ROWS[2],))
    assert history.prefix(2) is not prefix


def test_later_rows_change_nothing_of_a_prefix() -> None:
    history = make_history(ROWS[:2])
    before = view_of(history, FAR).prefix
    cosines, after = before.cosines(QUERY.vector).copy(), before.neighbours.after.copy()
    extend(history, (ROWS[2],))
    again = view_of(history, ROWS[2].breadcrumb.place).prefix
    np.testing.assert_array_equal(again.cosines(QUERY.vector), cosines)
    np.testing.assert_array_equal(again.neighbours.after, after)


def test_vectors_that_come_after_a_view_was_made_are_compared() -> None:
    history = make_history([bare(make_remembered("The kiln is hot."))])
    prefix = view_of(history).prefix
    assert np.isnan(prefix.cosines(make_vector("kiln"))).all()
    assert history.fill({0: (make_vector("kiln"),)})
    assert prefix.has_vector.all()
    assert not np.isnan(prefix.cosines(make_vector("kiln"))).any()
