"""What the answer probably needs: more of what is likely, less of what is far away or of a form that is common."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.assemble.budget.worth import MANY, density, others_of_a_kind, worth_in_many, worth_of_share
from tests.examples import examples

chances = st.floats(0, 1)
patterns = st.lists(st.frozensets(st.integers(0, 12), max_size=8), max_size=12)


@given(st.lists(chances, min_size=1, max_size=9), chances)
def test_a_find_is_worth_more_the_larger_its_share_and_never_more_than_one_message(shares: list[float], answered: float) -> None:
    worth = worth_of_share(np.array(sorted(shares)), answered)
    assert (np.diff(worth) >= 0).all()
    assert ((worth >= 0) & (worth <= 1)).all()


def test_a_sure_find_is_worth_a_message_and_nothing_is_where_nothing_answers() -> None:
    assert worth_of_share(np.array([1.0, 0.0]), 1.0).tolist() == [1.0, 0.0]
    assert worth_of_share(np.array([1.0, 0.5]), 0.0).tolist() == [0.0, 0.0]


def test_many_finds_are_together_worth_more_than_one() -> None:
    assert worth_of_share(np.full(10, 0.1), 1.0).sum() > worth_of_share(np.array([1.0]), 1.0).sum()


def test_where_the_answer_is_in_many_messages_the_fifth_is_needed_like_the_first() -> None:
    shares = np.array([0.99, *np.full(2 * MANY, 1e-6)])
    worth = worth_in_many(shares)
    assert worth.sum() == pytest.approx(MANY, rel=0.1)
    assert worth[0] == pytest.approx(1)
    assert worth[5] > 1000 * worth_of_share(shares, 1.0)[5]


def test_what_is_farther_from_the_question_is_needed_less_and_all_of_a_conversation_is_not_needed() -> None:
    distances = np.arange(0, 200_000, dtype=np.float64)
    needed = density(distances)
    assert (np.diff(needed) < 0).all()
    assert 0 < needed.min() < needed.max() < 1
    assert needed[:1000].sum() > 3 * needed[1000:].sum()


@examples(200)
@given(patterns)
def test_finds_are_of_a_kind_that_have_four_in_ten_of_their_words_in_common(words: list[frozenset[int]]) -> None:
    def are_alike(one: frozenset[int], other: frozenset[int]) -> bool:
        return bool(one & other) and 5 * len(one & other) >= 2 * len(one | other)

    expected = [sum(are_alike(one, other) for n, other in enumerate(words) if n != number) for number, one in enumerate(words)]
    assert others_of_a_kind([np.array(sorted(each), np.int64) for each in words]).tolist() == expected


@pytest.mark.parametrize("number", [0, 1, 3])
def test_finds_without_words_are_of_no_kind(number: int) -> None:
    assert others_of_a_kind([np.zeros(0, np.int64)] * number).tolist() == [0] * number
