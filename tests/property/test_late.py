"""Whatever late interaction says, it moves only what it looked at, and gives nobody a score that nobody had."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from builder.pipeline.late import Best, reorder
from builder.pipeline.rank import MAX_SIM, Ranker
from tests.factories import make_query

WIDTH = 32
token_vectors = st.integers(0, 4).flatmap(lambda pieces: st.binary(min_size=pieces * WIDTH, max_size=pieces * WIDTH))
numbers = st.floats(-10, 10, width=32)


@given(data=st.data(), scores=st.lists(numbers, max_size=12), asked=token_vectors, weight=numbers)
def test_reordering_shares_out_the_scores_of_the_best_among_the_best(
    data: st.DataObject, scores: list[float], asked: bytes, weight: float
) -> None:
    passages = data.draw(st.lists(st.sampled_from(range(len(scores))), unique=True) if scores else st.just([]))
    held = [data.draw(token_vectors) for _ in passages]
    late = np.array([data.draw(numbers) for _ in passages], np.float32)
    best = Best(scores=np.array(scores, np.float32), passages=np.array(passages, np.int64), late=late)
    query = replace(make_query("kiln"), vector=bytes(2 * WIDTH), token_vectors=asked)
    found = reorder(query, best, held, Ranker(hybrid={}, words={}, late={MAX_SIM: weight})).scores
    others = np.setdiff1d(np.arange(len(scores)), passages)
    assert sorted(found[passages].tolist()) == sorted(best.scores[passages].tolist())
    assert found[others].tolist() == best.scores[others].tolist()
