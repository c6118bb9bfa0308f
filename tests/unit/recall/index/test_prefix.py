"""What consumers share of a history, and what they must not."""

import numpy as np

from tests.factories import FAR, bare, extend, make_history, make_query, make_remembered, make_vector, view_of

ROWS = [
    make_remembered("The kiln in Delft has order number 31.", 1, tags=("to:mira",)),
    make_remembered("The kiln in Leiden has order number 32.", 2, tags=("to:otto",)),
    make_remembered("The wheel is by the window.", 3, tags=("to:mira", "to:otto")),
]
QUERY = make_query("Which order number has the kiln?")


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
