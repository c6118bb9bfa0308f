"""The evidence behind a find."""

import numpy as np
import pytest

from builder.extras.explain.evidence import SearchEvidence
from builder.recall.search.ranking import rank
from builder.recall.search.retrieval import retrieve
from tests.factories import BY_HAND, make_history, make_profile, make_query, make_remembered, make_terms, view_of

RULES = make_profile().retrieval
VIEW = view_of(
    make_history(
        [
            make_remembered("The kiln is hot today.", 1),
            make_remembered("ok", 2),
            make_remembered("The glaze dries in the shed.", 3),
            make_remembered("Somebody bought a teapot.", 4),
        ]
    )
)
QUERY = make_query("Is the kiln hot?")
RESULT = retrieve(QUERY, VIEW, RULES, BY_HAND, frozenset({3}), 1000, make_terms)
EVIDENCE = SearchEvidence(QUERY, VIEW, BY_HAND, RESULT.candidates)


def test_the_best_find_has_the_first_rank_and_the_probability_by_which_it_was_found() -> None:
    evidence = EVIDENCE.of_row(0)
    assert evidence is not None
    assert (evidence.rank, evidence.candidates) == (1, 2)
    assert evidence.probability == pytest.approx(next(find.probability for find in RESULT.finds if find.row == 0))


def test_points_are_the_score_beyond_the_mean_of_the_candidates() -> None:
    weights = BY_HAND.weights(QUERY, VIEW).passages
    scores, candidates = rank(QUERY, VIEW, weights), RESULT.candidates
    assert candidates is not None
    mean = float(scores[candidates.unseen].mean())
    for row in (0, 2):
        evidence = EVIDENCE.of_row(row)
        assert evidence is not None
        passage = VIEW.history.passages.first(row)
        assert sum(signal.points for signal in evidence.signals) == pytest.approx(float(scores[passage]) - mean, abs=1e-4)
        assert [abs(signal.points) for signal in evidence.signals] == sorted(
            (abs(signal.points) for signal in evidence.signals), reverse=True
        )


def test_what_is_on_the_page_and_small_talk_were_no_candidates() -> None:
    assert EVIDENCE.of_row(3) is None
    assert EVIDENCE.of_row(1) is None
    assert EVIDENCE.of_row(-1) is None


def test_rows_are_ordered_by_their_best_passage_and_others_by_age_behind_them() -> None:
    assert EVIDENCE.by_relevance(np.arange(4))[0] == 0
    assert EVIDENCE.by_relevance(np.arange(4))[2:] == [3, 1]


def test_the_question_says_how_probable_it_is_that_nothing_answers() -> None:
    question = EVIDENCE.question(0.01)
    assert question.candidates == 2
    assert question.unanswered is not None
    assert 0 < question.unanswered < 1
    assert question.min_probability == 0.01


def test_without_a_search_there_is_no_evidence() -> None:
    nothing = SearchEvidence(QUERY, VIEW, BY_HAND, None)
    assert nothing.of_row(0) is None
    assert nothing.question(None).unanswered is None
    assert nothing.by_relevance(np.arange(3)) == [2, 1, 0]
