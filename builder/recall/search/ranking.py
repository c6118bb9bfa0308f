"""Fuse the signals into one order of passages, a linear sum with learned weights (`ranker.toml`), and into probabilities."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from builder.recall.index.view import Floats, Rows, View
from builder.recall.search import signals
from builder.recall.search.query import Query

Signal = Callable[[Query, View], Floats]


def _standardised(values: Floats) -> Floats:
    """In standard deviations from the mean of what is known. NaN, which is unknown, becomes 0."""
    unknown = np.isnan(values)
    present = values[~unknown] if unknown.any() else values
    spread = float(present.std()) if len(present) else 0.0
    if spread == 0:
        return np.zeros_like(values)
    scaled = (values - present.mean()) / spread
    return np.where(unknown, np.float32(0), scaled) if len(present) < len(values) else scaled


def _of_best(values: Floats) -> Floats:
    best = float(values.max()) if len(values) else 0.0
    return values / best if best > 0 else np.zeros_like(values)


def _plain(values: Floats) -> Floats:
    return values


SIGNALS: Mapping[str, tuple[Signal, Callable[[Floats], Floats]]] = {
    "context_words": (signals.context_words, _standardised),
    "context_words_of_best": (signals.context_words, _of_best),
    "pair_words": (signals.pair_words, _standardised),
    "episode_words": (signals.episode_words, _standardised),
    "similarity": (signals.similarity, _standardised),
    "window_similarity": (signals.window_similarity, _standardised),
    "speaker": (signals.speaker, _plain),
    "date": (signals.date, _plain),
    "answers_when": (signals.answers_when, _plain),
    "answers_where": (signals.answers_where, _plain),
    "tells_time": (signals.tells_time, _plain),
    "asks": (signals.asks, _plain),
    "log_tokens": (signals.log_tokens, _plain),
    "log_parts": (signals.log_parts, _plain),
    "user_said": (signals.user_said, _plain),
    "instructs": (signals.instructs, _plain),
    "own_words": (signals.own_words, _plain),
    "own_parts": (signals.own_parts, _plain),
}
MEANING = frozenset({"similarity", "window_similarity", "nearest"})
"""What needs vectors: signals, and of the null candidate what is nearest."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a score is a weighted sum of."""

    passages: Mapping[str, float]
    """Signal → weight, of a passage's score."""
    null: Mapping[str, float]
    """Evidence → weight, of the score of "nothing answers this" (`probability.py`)."""


@dataclass(frozen=True, slots=True)
class Ranker:
    """The sets of weights."""

    hybrid: Weights
    """Where the query and a passage have vectors."""
    words: Weights
    """Where the query, or every passage, has none."""

    def weights(self, query: Query, view: View) -> Weights:
        """The set for this query: meaning counts as soon as any passage has a vector to compare."""
        return self.hybrid if query.vector and view.prefix.has_vector.any() else self.words


def rank(query: Query, view: View, weights: Mapping[str, float]) -> Floats:
    """One score a passage, higher is better, shape (passages,). A signal without a weight is not computed."""
    score = np.zeros(view.passages, np.float32)
    raw: dict[Signal, Floats] = {}
    for name, weight in weights.items():
        signal, scale = SIGNALS[name]
        if signal not in raw:
            raw[signal] = signal(query, view)
        score += np.float32(weight) * scale(raw[signal])
    return score


def _always(_query: Query, _view: View, _findable: Rows) -> float:
    return 1.0


def _nearest(query: Query, view: View, findable: Rows) -> float:
    """The best cosine among what may be found, 0 where nothing can be compared."""
    cosines = signals.similarity(query, view)[findable]
    cosines_there = cosines[~np.isnan(cosines)]
    return float(cosines_there.max()) if len(cosines_there) else 0.0


def _share_of_known_terms(query: Query, view: View, _findable: Rows) -> float:
    terms = query.terms
    return sum(view.history.passages.postings.holding(term, view.passages) > 0 for term in terms) / len(terms) if terms else 0.0


NULL: Mapping[str, Callable[[Query, View, Rows], float]] = {
    "constant": _always,
    "nearest": _nearest,
    "known": _share_of_known_terms,
}
"""What the null candidate's score is a linear sum of."""


def probabilities(query: Query, view: View, scores: Floats, findable: Rows, weights: Mapping[str, float]) -> Floats:
    """P = e^s / (e^null + Σ e^s) over what may be found, 0 elsewhere, shape (passages,).

    findable: shape (passages,), with what the page shows, because it competes too. weights: name in NULL → weight.
    """
    probability = np.zeros(len(scores), np.float32)
    if not findable.any():
        return probability
    against = sum(weight * NULL[name](query, view, findable) for name, weight in weights.items())
    odds = np.exp(scores[findable].astype(np.float64) - float(scores[findable].max()))
    probability[findable] = odds / odds.sum() / (1 + np.exp(against))
    return probability
