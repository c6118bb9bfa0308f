"""Late interaction: the best passages change places by how well they meet the question's words, and nothing else moves."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from builder.domain.facts import PassageKey
from builder.pipeline.late import Best, best_passages, keys_of, met, reorder, told
from builder.pipeline.query import Query
from builder.pipeline.rank import MAX_SIM, Ranker, rank
from tests.factories import (
    BY_HAND,
    make_place,
    make_profile,
    make_query,
    make_remembered,
    make_token_vectors,
    make_tombstone,
    make_turn,
    make_view,
)

LATE = Ranker(hybrid=BY_HAND.hybrid, words=BY_HAND.words, late={MAX_SIM: 1.0})
HELD = ("The old wheel.", "The kiln is hot.", "A key of the kiln.")


def question(text: str = "Where is the key of the kiln?") -> Query:
    return replace(make_query(text), token_vectors=make_token_vectors(text))


def best(scores: Sequence[float], *passages: int) -> Best:
    return Best(
        scores=np.array(scores, np.float32), passages=np.array(passages, np.int64), late=np.zeros(len(passages), np.float32)
    )


def test_a_passage_that_meets_more_of_the_question_comes_before_one_that_meets_less() -> None:
    found = reorder(question(), best([0, 9, 8, 7], 1, 2, 3), [make_token_vectors(text) for text in HELD], LATE)
    assert found.scores.tolist() == [0, 7, 8, 9]
    assert found.complete


def test_each_piece_meets_the_nearest_of_a_passage_and_the_number_of_pieces_earns_nothing() -> None:
    once, often = (met(question("kiln"), [make_token_vectors(text)]) for text in ("kiln", "kiln kiln kiln wheel"))
    assert once == pytest.approx(often)
    assert met(question("kiln key"), [b"", make_token_vectors("kiln")])[0].tolist() == [0, 0]


def test_a_piece_that_is_met_everywhere_tells_nothing() -> None:
    values = np.array([[1, 0.2], [1, 0.9], [1, 0.1]], np.float32)
    everywhere = np.ones(3, np.bool_)
    assert told(values, everywhere) == pytest.approx(told(values[:, 1:], everywhere))
    assert told(values[:, :1], everywhere).tolist() == [0, 0, 0]


def test_a_passage_without_token_vectors_is_neither_preferred_nor_put_last() -> None:
    held = [make_token_vectors(HELD[0]), b"", make_token_vectors(HELD[2])]
    found = reorder(question(), best([9, 8, 7], 0, 1, 2), held, LATE)
    assert found.scores.tolist() == [7, 8, 9]
    assert not found.complete


def test_where_most_have_no_token_vectors_the_order_stays() -> None:
    found = reorder(question(), best([9, 8, 7], 0, 1, 2), [b"", b"", make_token_vectors(HELD[2])], LATE)
    assert found.scores.tolist() == [9, 8, 7]
    assert not found.complete


def test_without_learned_weights_the_order_stays() -> None:
    found = reorder(question(), best([9, 8, 7], 0, 1, 2), [make_token_vectors(text) for text in HELD], BY_HAND)
    assert found.scores.tolist() == [9, 8, 7]


def test_with_nothing_to_put_in_order_nothing_is_missing() -> None:
    assert reorder(question(), best([1, 2]), [], LATE).complete


def test_the_best_are_those_that_may_be_found_by_the_first_ranking() -> None:
    rows = [*map(make_turn, (*HELD, "The kiln key."), range(1, 5)), make_tombstone("m3", 5)]
    view, rules = make_view(rows), make_profile(retrieval={"rerank": 2}).retrieval
    found = best_passages(question(), view, rules, LATE)
    assert found.passages.tolist() == [3, 1]
    assert found.scores == pytest.approx(rank(question(), view, LATE), abs=1e-5)


def test_the_keys_name_the_passages_where_the_store_has_them() -> None:
    view = make_view([make_remembered("I moved to Lisbon because of the new job. " * 40, 1), make_remembered("Kiln.", 2)])
    last = view.passages - 1
    assert last > 1
    expected = (PassageKey("s42", make_place(2), 0), PassageKey("s42", make_place(1), 1))
    assert keys_of(view, np.array([last, 1])) == expected
