"""What is scored, and the chance of each passage."""

import numpy as np

from builder.recall.search.candidates import Candidates
from builder.recall.search.scoring import best_of, scored
from tests.factories import BY_HAND, make_profile, make_query, make_view

CHAT = ["The kiln stands in Delft.", "The weather is fine.", "We glaze on Friday.", "thanks!"]


def candidates(question: str, page_rows: frozenset[int] = frozenset(), asking: int = -1) -> Candidates | None:
    return scored(make_query(question), make_view(CHAT), make_profile().retrieval, BY_HAND, page_rows, asking)


def test_what_the_page_shows_competes_and_is_no_candidate() -> None:
    alone, shown = candidates("Where is the kiln?"), candidates("Where is the kiln?", frozenset({0}))
    assert alone is not None
    assert shown is not None
    assert shown.unseen.tolist() == [False, True, True]
    assert shown.probability.tolist() == alone.probability.tolist()


def test_the_message_that_asks_does_not_compete() -> None:
    found = candidates("The kiln stands in Delft.", asking=0)
    assert found is not None
    assert found.probability[0] == 0


def test_where_all_is_shown_nothing_is_scored() -> None:
    assert candidates("Where is the kiln?", frozenset(range(4))) is None


def test_the_best_come_first_and_among_equals_the_later() -> None:
    scores = np.array([1, 3, 2, 3], np.float32)
    assert best_of(scores, np.arange(4), 3).tolist() == [3, 1, 2]
    assert best_of(scores, np.arange(4), 1).tolist() == [3]
