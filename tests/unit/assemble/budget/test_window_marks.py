"""Marks stand at places that the history alone decides, a step apart."""

import numpy as np
import pytest

from builder.assemble.budget.window_marks import LABEL_TOKENS, WindowMarks, window_marks
from tests.conversations import answered, bash, chat, replied, said
from tests.factories import make_view

EVEN = WindowMarks(rows=np.arange(10), ends=np.arange(10, 110, 10, dtype=np.float64), step=25)
"""Ten rows of ten tokens each; marks stand before rows 3, 5, 8 and 10."""


@pytest.mark.parametrize(("row", "mark"), [(0, 0), (1, 3), (2, 3), (3, 5), (5, 5), (6, 8), (8, 10), (9, 10)])
def test_the_next_mark_is_the_first_row_behind_a_full_step(row: int, mark: int) -> None:
    assert EVEN.next(row) == mark


def test_the_beginning_of_the_session_is_a_mark() -> None:
    assert EVEN.next(0) == 0
    assert EVEN.reached(0, 60) == 0


def test_a_window_reaches_a_mark_with_the_row_that_fills_it_over_the_mark_before() -> None:
    assert EVEN.reached(3, 60) == 6
    assert EVEN.reached(5, 60) == 8


def test_a_mark_that_no_row_has_filled_a_window_over_is_not_reached() -> None:
    assert EVEN.reached(3, 1000) == 0


def test_marks_do_not_move_while_the_conversation_grows() -> None:
    short, long = (window_marks(make_view(chat(number)), 50, results=False) for number in (20, 40))
    positions = [short.next(row) for row in range(15)]
    assert [long.next(row) for row in range(15)] == positions
    assert positions == sorted(positions)


def test_words_and_results_have_marks_of_their_own() -> None:
    rows = [said(1, "Count."), replied(2, "I count.", bash("r1", "wc")), answered(3, "r1", "42 lines"), said(4, "Thanks.")]
    view = make_view(rows)
    words, results = (window_marks(view, 10, results=flag).ends for flag in (False, True))
    assert np.flatnonzero(np.diff(words, prepend=0)).tolist() == [0, 1, 3]
    assert np.flatnonzero(np.diff(results, prepend=0)).tolist() == [2]
    assert words[0] == view.history.breadcrumbs.tokens.head(view.size)[0] + LABEL_TOKENS


def test_a_step_is_at_least_a_token() -> None:
    assert window_marks(make_view(chat(3)), 0, results=False).step == 1
