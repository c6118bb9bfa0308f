"""How probable an answer is: the passages' softmax, and the share of "nothing answers this"."""

import numpy as np
import pytest

from builder.recall.index.view import View
from builder.recall.search.query import Query
from builder.recall.search.ranking import NULL, probabilities, rank
from tests.factories import BY_HAND, make_query, make_remembered, make_view

CHAT = ["The kiln stands in Delft.", "The weather is fine.", "We glaze on Friday.", "The van needs new brakes."]
WEIGHTS = {"constant": 2.0, "nearest": -4.0, "known": -2.0}


def probable(query: Query, view: View, weights: dict[str, float], hidden: tuple[int, ...] = ()) -> list[float]:
    findable = np.ones(view.passages, np.bool_)
    findable[list(hidden)] = False
    scores = rank(query, view, BY_HAND.hybrid.passages)
    found: list[float] = probabilities(query, view, scores, findable, weights).tolist()
    return found


def test_what_may_be_found_and_nothing_share_the_whole() -> None:
    found = probable(make_query("Where is the kiln?"), make_view(CHAT), {"constant": 0.0})
    assert sum(found) == pytest.approx(0.5)
    assert found[0] == max(found)


def test_what_may_not_be_found_has_none_and_takes_none() -> None:
    found = probable(make_query("Where is the kiln?"), make_view(CHAT), {"constant": 0.0}, hidden=(0,))
    assert found[0] == 0
    assert sum(found) == pytest.approx(0.5)


def test_nothing_is_likelier_when_no_passage_is_near_and_the_words_were_never_used() -> None:
    known, foreign = (
        sum(probable(make_query(text), make_view(CHAT), WEIGHTS)) for text in ("Where is the kiln?", "Who won the regatta?")
    )
    assert foreign < 0.2
    assert known > 0.6


def test_a_name_of_somebody_who_speaks_here_is_no_evidence_for_an_answer() -> None:
    view = make_view([make_remembered("The kiln stands in Delft.", 1, speaker="Ana"), make_remembered("It rains.", 2)])
    unnamed, named = make_query("What does she like?"), make_query("What does Ana like?", ("Ana",))
    assert sum(probable(named, view, WEIGHTS)) == pytest.approx(sum(probable(unnamed, view, WEIGHTS)), abs=0.1)


def test_the_share_of_nothing_does_not_depend_on_how_many_passages_there_are() -> None:
    few, many = make_view(CHAT), make_view([*CHAT, *(f"Remark {n} on the rain." for n in range(200))])
    query = make_query("Where is the kiln?")
    assert sum(probable(query, few, WEIGHTS)) == pytest.approx(sum(probable(query, many, WEIGHTS)), abs=0.02)


def test_an_empty_session_and_a_query_without_words_have_no_probabilities_to_speak_of() -> None:
    assert probable(make_query("kiln"), make_view([]), WEIGHTS) == []
    values = {name: value(make_query(""), make_view(CHAT), np.ones(4, np.bool_)) for name, value in NULL.items()}
    assert values == {"constant": 1.0, "nearest": 0.0, "known": 0.0}
