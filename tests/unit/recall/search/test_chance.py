"""How probably anything answers, and each passage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.recall.index.view import View
from builder.recall.search.chance import EVIDENCE, Calibration, answered, chances, evidence, shares
from builder.recall.search.query import Query
from builder.recall.search.ranking import rank
from tests.factories import BY_HAND, make_query, make_remembered, make_view

CHAT = ["The kiln stands in Delft.", "The weather is fine.", "We glaze on Friday.", "The van needs new brakes."]
WEIGHTS = {"constant": -2.0, "nearest": 4.0, "known": 2.0}
LEARNED = Calibration(slope=0.7, first=0.6, constant=-0.3)


def answer(query: Query, view: View, hidden: tuple[int, ...] = ()) -> float:
    findable = np.ones(view.passages, np.bool_)
    findable[list(hidden)] = False
    return answered(query, view, shares(rank(query, view, BY_HAND.hybrid.passages), findable), findable, WEIGHTS)


def test_what_may_not_be_found_has_no_share_and_takes_none() -> None:
    share = shares(np.array([3.0, 2.0, 1.0], np.float32), np.array([False, True, True]))
    assert share[0] == 0
    assert share.sum() == pytest.approx(1)
    assert share[1] / share[2] == pytest.approx(np.e)


def test_an_answer_is_less_likely_when_no_passage_is_near_and_the_words_were_never_used() -> None:
    view = make_view(CHAT)
    assert answer(make_query("Who won the regatta?"), view) < 0.2
    assert answer(make_query("Where is the kiln?"), view) > 0.6


def test_where_nothing_may_be_found_nothing_answers() -> None:
    assert answer(make_query("Where is the kiln?"), make_view(CHAT), (0, 1, 2, 3)) == 0
    assert answer(make_query("kiln"), make_view([])) == 0


def test_a_name_of_somebody_who_speaks_here_is_no_evidence_for_an_answer() -> None:
    view = make_view([make_remembered("The kiln stands in Delft.", 1, speaker="Ana"), make_remembered("It rains.", 2)])
    unnamed, named = make_query("What does she like?"), make_query("What does Ana like?", ("Ana",))
    assert answer(named, view) == pytest.approx(answer(unnamed, view), abs=0.1)


def test_evidence_of_a_question_is_what_it_says_of_itself_and_shares_with_the_best_passage() -> None:
    view, findable = make_view(CHAT), np.ones(4, np.bool_)
    query = make_query("Does the kiln glaze on Friday?")
    share = np.array([0.1, 0.1, 0.7, 0.1])
    values = evidence(query, view, share, findable)
    assert tuple(values) == EVIDENCE
    assert (values["asks"], values["peak"], values["known"]) == (1, 0.7, 1)
    assert values["log_passages"] == pytest.approx(np.log(4))
    assert values["log_terms"] == pytest.approx(np.log(4))
    assert values["shared"] == pytest.approx(2 / 3)
    empty = evidence(make_query(""), view, share, findable)
    assert (empty["known"], empty["nearest"], empty["shared"], empty["log_terms"]) == (0, 0, 0, 0)


@given(st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=30), st.floats(0, 1))
def test_chances_are_between_0_and_1_and_in_the_order_of_the_scores(scores: list[float], answer: float) -> None:
    values = np.array(scores, np.float32)
    found = chances(shares(values, np.ones(len(values), np.bool_)), answer, LEARNED)
    assert ((found >= 0) & (found <= 1)).all()
    ordered = found[np.argsort(values, kind="stable")]
    assert (np.diff(ordered) >= -1e-6).all()


def test_the_best_passage_is_likelier_than_its_share_alone_says_and_the_others_are_not() -> None:
    share = np.array([0.6, 0.3, 0.1, 0.0])
    plain = chances(share, 0.8, Calibration(slope=1, first=0, constant=0))
    assert plain.tolist() == pytest.approx([0.48, 0.24, 0.08, 0])
    lifted = chances(share, 0.8, Calibration(slope=1, first=1, constant=0))
    assert lifted[0] > 0.6
    assert lifted[1:].tolist() == plain[1:].tolist()
