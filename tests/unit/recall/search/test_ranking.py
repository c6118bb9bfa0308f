"""One score out of many signals."""

from dataclasses import replace

import numpy as np
import pytest

from builder.recall.index.breadcrumb_table import Floats
from builder.recall.search import signals
from builder.recall.search.ranking import rank
from tests.factories import (
    BY_HAND,
    bare,
    make_history,
    make_place,
    make_query,
    make_remembered,
    make_view,
    view_of,
)

SMALL_TALK = [f"The weather is fine, part {n}." for n in range(30)]


def standardised(values: Floats) -> Floats:
    return np.asarray((values - values.mean()) / values.std(), np.float32)


def test_it_is_the_weighted_sum_of_standardised_and_plain_signals() -> None:
    query, view = make_query("Is the kiln hot, Ana?", ("Ana",)), make_view([*SMALL_TALK, "The kiln is hot.", "Is the kiln hot?"])
    expected = (
        standardised(signals.context_words(query, view))
        + 0.8 * standardised(signals.similarity(query, view))
        + 2 * signals.speaker(query, view)
        + 0.5 * signals.log_tokens(query, view)
        - 0.7 * signals.asks(query, view)
    )
    np.testing.assert_allclose(rank(query, view, BY_HAND.hybrid.passages), expected, rtol=1e-4, atol=1e-4)


def test_a_signal_that_says_the_same_of_all_decides_nothing() -> None:
    view = make_view(["Red.", "Blue.", "Grey."])
    assert np.ptp(rank(make_query("zeppelin"), view, BY_HAND.hybrid.passages)) == pytest.approx(0, abs=1e-6)


def test_without_a_vector_of_the_query_the_words_have_their_own_weights() -> None:
    query, view = make_query("Is the kiln hot?"), make_view(["The kiln is hot.", "It rains."])
    assert BY_HAND.weights(query, view) == BY_HAND.hybrid
    assert BY_HAND.weights(replace(query, vector=b""), view) == BY_HAND.words


def test_meaning_counts_as_soon_as_one_passage_has_a_vector() -> None:
    rows = [make_remembered(f"The kiln has number {n}.", n) for n in range(1, 7)]
    history = make_history([*map(bare, rows[:3]), *rows[3:]])
    found = [BY_HAND.weights(make_query("Is the kiln hot?"), view_of(history, make_place(n))) for n in range(2, 8)]
    assert found == [BY_HAND.words] * 3 + [BY_HAND.hybrid] * 3


def test_a_passage_without_a_vector_turns_meaning_off_for_no_other() -> None:
    """However many lack vectors, those that have one keep the order that their meaning gives them."""
    known = [make_remembered(text, n) for n, text in enumerate(("The cat sleeps.", "A dog barks.", "The cat is asleep."), 1)]
    query = make_query("Is the cat asleep?")
    whole = rank(query, make_view(known), BY_HAND.hybrid.passages)
    for lacking in (1, 10, 50):
        rows = [*known, *(bare(make_remembered(f"Remark {n} on the weather.", n)) for n in range(4, 4 + lacking))]
        scores = rank(query, make_view(rows), BY_HAND.hybrid.passages)
        assert scores[:3].argsort().tolist() == whole.argsort().tolist()
        assert scores[:3].argmax() == scores.argmax()


def test_the_few_that_have_vectors_do_not_come_before_the_many_with_the_right_words() -> None:
    rows = [make_remembered(text, n) for n, text in enumerate([*SMALL_TALK, "The kiln stands in Delft."], 1)]
    asked = make_query("Where does the kiln stand?")
    view = make_view([*rows[:2], *map(bare, rows[2:])])
    assert int(rank(asked, view, BY_HAND.hybrid.passages).argmax()) == len(rows) - 1


def test_an_empty_session_has_no_scores() -> None:
    assert rank(make_query("kiln"), make_view([]), BY_HAND.hybrid.passages).shape == (0,)
