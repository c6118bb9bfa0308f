"""What the trigger before would have found is held on to: a pure function of the stored history."""

import numpy as np

from builder.pipeline.hysteresis import Floats, steadied
from builder.pipeline.rank import rank
from builder.pipeline.view import View
from tests.factories import BY_HAND, make_history, make_place, make_profile, make_query, make_terms, make_turn, view_of

TEXTS = (
    "The kiln reached cone 6 on Friday.",
    "Lena bought tulips for the porch.",
    "The boat needs a new sail.",
    "We painted the door.",
    "Which sail does the boat need?",
    "A triangular one.",
)
ROWS = [make_turn(text, number) for number, text in enumerate(TEXTS, 1)]
LATER = [make_turn(f"Something else about sail {number}.", number) for number in range(8, 30)]
AT = make_place(7)


def scores(view: View, share: float) -> tuple[Floats, Floats]:
    """Without and with a bonus."""
    return asked("And what colour?", view, share)


def asked(text: str, view: View, share: float) -> tuple[Floats, Floats]:
    query = make_query(text)
    bare = rank(query, view, BY_HAND)
    return bare, steadied(bare, query, view, make_profile(retrieval={"hysteresis": share}), BY_HAND, make_terms)


def test_without_a_share_the_scores_are_the_same() -> None:
    bare, steady = scores(view_of(make_history(ROWS), AT), 0)
    assert steady is bare


def test_what_the_question_before_would_have_found_gets_a_bonus() -> None:
    many = [make_turn(f"Remark number {number} about the garden.", number) for number in range(20, 40)]
    question = make_turn("Which sail does the boat need?", 41)
    view = view_of(make_history([*ROWS[:4], *many, question]))
    bare, steady = scores(view, 0.5)
    gained = np.flatnonzero(steady > bare)
    assert 2 in gained
    assert len(gained) == 8
    assert np.array_equal(np.delete(steady, gained), np.delete(bare, gained))


def test_later_rows_change_nothing() -> None:
    alone, grown = make_history(ROWS), make_history([*ROWS, *LATER])
    assert np.array_equal(scores(view_of(alone, AT), 0.3)[1], scores(view_of(grown, AT), 0.3)[1])


def test_whoever_asks_again_gets_the_same_and_the_given_scores_stay() -> None:
    view = view_of(make_history(ROWS), AT)
    bare, steady = scores(view, 0.3)
    assert np.array_equal(scores(view, 0.3)[1], steady)
    assert np.array_equal(bare, scores(view, 0)[0])


def test_the_first_question_of_a_session_has_nothing_to_hold_on_to() -> None:
    view = view_of(make_history([make_turn("Hello, what can I do?", 2)]))
    bare, steady = scores(view, 0.3)
    assert steady is bare


def test_who_answered_the_trigger_before_gives_what_one_who_did_not_gives() -> None:
    many = [make_turn(f"Remark number {number} about the garden.", number) for number in range(20, 40)]
    question = make_turn("Which sail does the boat need?", 41)
    lasting, fresh = make_history([*ROWS, *many, question]), make_history([*ROWS, *many, question])
    asked(question.breadcrumb.text, view_of(lasting, question.breadcrumb.place), 0.5)
    assert lasting.ranked is not None
    assert np.array_equal(scores(view_of(lasting), 0.5)[1], scores(view_of(fresh), 0.5)[1])
