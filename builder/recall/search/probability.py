"""How probable it is that a passage answers the query: the fusion's softmax, with one candidate for "nothing does".

A softmax sums to 1 even when nothing fits: "thanks!" would find a hundred passages. The null candidate takes the mass that
belongs to no passage. Its score is learned from questions asked in conversations that cannot answer them (`bench fit`). It falls
with what such questions lack, whatever the conversation: a near passage, and words that were used in it.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from builder.recall.index.view import View
from builder.recall.search import signals
from builder.recall.search.query import Query

Floats = NDArray[np.float32]
Rows = NDArray[np.bool_]


def _always(_query: Query, _view: View, _findable: Rows) -> float:
    return 1.0


def _nearest(query: Query, view: View, findable: Rows) -> float:
    """The best cosine among what may be found, 0 where nothing can be compared."""
    cosines = signals.similarity(query, view)[findable]
    cosines_there = cosines[~np.isnan(cosines)]
    return float(cosines_there.max()) if len(cosines_there) else 0.0


def _share_of_known_terms(query: Query, view: View, _findable: Rows) -> float:
    """Share of the query's terms that the history knows."""
    terms = query.terms
    return sum(view.history.passages.postings.holding(term, view.passages) > 0 for term in terms) / len(terms) if terms else 0.0


NULL: Mapping[str, Callable[[Query, View, Rows], float]] = {
    "constant": _always,
    "nearest": _nearest,
    "known": _share_of_known_terms,
}
"""What the null candidate's score is a linear sum of."""


def evidence(query: Query, view: View, findable: Rows) -> Floats:
    """The values of NULL in their order, shape (len(NULL),): what `bench fit` learns from."""
    return np.array([value(query, view, findable) for value in NULL.values()], np.float32)


def probabilities(query: Query, view: View, scores: Floats, findable: Rows, weights: Mapping[str, float]) -> Floats:
    """P = e^s / (e^null + Σ e^s) over what may be found, 0 elsewhere, shape (passages,).

    findable: shape (passages,), what the page shows already included, because it competes too.
    weights: name in NULL → weight.

    The null's score is the logarithm of Σ e^s and its weighted evidence: scores are standardised, so that their own height says
    how many passages there are, not how well they answer.
    """
    probability = np.zeros(len(scores), np.float32)
    if not findable.any():
        return probability
    against = sum(weight * NULL[name](query, view, findable) for name, weight in weights.items())
    odds = np.exp(scores[findable].astype(np.float64) - float(scores[findable].max()))
    probability[findable] = odds / odds.sum() / (1 + np.exp(against))
    return probability
