"""Passages with their vectors and their neighbours, each session for itself."""

import numpy as np

from builder.recall.index.passage_table import PAUSE_PASSAGES, PassageTable
from tests.conversations import two_sessions
from tests.factories import bare, make_history, make_remembered, make_vector, make_view, view_of


def test_vectors_are_zero_where_none_was_made() -> None:
    view = make_view(["?!", "The kiln is hot.", "?"])
    assert view.prefix.vectors is not None
    assert view.prefix.vectors.any(axis=1).tolist() == [False, True, False]
    assert view.prefix.vectors[1].astype("<f2").tobytes() == make_vector("The kiln is hot.")
    assert make_view(["?!"]).prefix.vectors is None


def test_neighbours_are_of_the_own_session_whoever_else_speaks_in_between() -> None:
    view = view_of(make_history(two_sessions()), session="s1")
    assert view.prefix.neighbours.before.tolist() == [-1, -1, 0, 1, 2]
    assert view.prefix.neighbours.after.tolist() == [2, 3, 4, -1, -1]


def test_a_later_neighbour_is_unknown_as_of_an_earlier_place() -> None:
    rows = two_sessions()
    history = make_history(rows)
    for end, row in enumerate(rows):
        alone, within = view_of(make_history(rows[:end])), view_of(history, row.breadcrumb.place)
        np.testing.assert_array_equal(alone.prefix.neighbours.after, within.prefix.neighbours.after)
        np.testing.assert_array_equal(alone.prefix.neighbours.before, within.prefix.neighbours.before)


def test_each_passage_has_the_cosines_of_the_two_before_it_also_when_the_vectors_come_in_any_order() -> None:
    rows = [make_remembered(f"The kiln of Delft has shelf {n} and glaze {n % 2}.", n) for n in range(1, 6)]
    at_once = make_history(rows).passages.cosines_back(5)
    later = make_history([bare(row) for row in rows])
    for row in (3, 0, 4, 1, 2):
        later.fill({row: tuple(passage.vector for passage in rows[row].passages)})
        later.passages.cosines_back(5)
    assert at_once[0][0] == 0 < at_once[0][1]
    np.testing.assert_array_equal(later.passages.cosines_back(5), at_once)


def test_the_first_passage_of_small_talk_is_that_of_what_follows() -> None:
    table = make_history(["The kiln is hot.", "okay", "The glaze is dry."]).passages
    assert [table.first(row) for row in range(4)] == [0, 1, 1, 2]


def test_a_long_breadcrumb_pauses_now_and_then() -> None:
    text = " ".join(f"This is sentence {n} of a long letter about kilns and glazes." for n in range(7 * 2 * PAUSE_PASSAGES))
    table = PassageTable()
    pauses = len(list(table.append(0, 0, make_remembered(text), filler=False)))
    assert pauses == -(-len(table) // PAUSE_PASSAGES) > 1
