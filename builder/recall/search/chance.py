"""Whether anything answers a question, and the chance of each passage to do so."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from builder.language.questions import asks_within
from builder.recall.index.view import Doubles, Floats, Rows, View
from builder.recall.search.query import Query
from builder.recall.search.signals import similarity

Evidence = Callable[[Query, View, Doubles, Rows], float]
"""Query, view, share of each passage, passages that may be found → a number."""
LEAST = 1e-9
"""A chance is no nearer to 0 and to 1."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """From "something answers, and of all passages this one" to a chance; see `chances`."""

    slope: float
    first: float
    constant: float


def shares(scores: Floats, findable: Rows) -> Doubles:
    """e^s / Σ e^s over what may be found, 0 elsewhere, shape (passages,)."""
    share = np.zeros(len(scores), np.float64)
    if findable.any():
        odds = np.exp(scores[findable].astype(np.float64) - float(scores[findable].max()))
        share[findable] = odds / odds.sum()
    return share


def _nearest(query: Query, view: View, _share: Doubles, findable: Rows) -> float:
    """The best cosine among what may be found, 0 where nothing can be compared."""
    cosines = similarity(query, view)[findable]
    there = cosines[~np.isnan(cosines)]
    return float(there.max()) if len(there) else 0.0


def _share_of_terms(query: Query, view: View, _share: Doubles, _findable: Rows) -> float:
    """Share of the question's terms that any passage has."""
    terms = query.terms
    return sum(len(view.prefix.occurrences(term).passages) > 0 for term in terms) / len(terms) if terms else 0.0


def _shared(query: Query, view: View, share: Doubles, _findable: Rows) -> float:
    """Share of the question's terms that the best passage has; a rare term counts more."""
    numbers, passages, _ = view.prefix.postings(query.terms)
    numbers, passages = numbers[numbers >= 0], passages[numbers >= 0]
    holding = np.bincount(numbers, minlength=len(query.terms))
    weights = np.log(1 + (view.passages - holding + 0.5) / (holding + 0.5))
    total = float(weights.sum())
    return float(weights[numbers[passages == share.argmax()]].sum()) / total if total > 0 else 0.0


EVIDENCE: Mapping[str, Evidence] = {
    "constant": lambda _query, _view, _share, _findable: 1.0,
    "nearest": _nearest,
    "known": _share_of_terms,
    "shared": _shared,
    "peak": lambda _query, _view, share, _findable: float(share.max(initial=0)),
    "log_passages": lambda _query, view, _share, _findable: float(np.log(max(view.passages, 1))),
    "log_terms": lambda query, _view, _share, _findable: float(np.log1p(len(query.terms))),
    "asks": lambda query, _view, _share, _findable: float(asks_within(query.text)),
}
"""Terms of the linear sum that gives the log odds that anything answers."""


def answered(query: Query, view: View, share: Doubles, findable: Rows, weights: Mapping[str, float]) -> float:
    """The probability that anything answers. weights: name in EVIDENCE → weight."""
    odds = sum(weight * EVIDENCE[name](query, view, share, findable) for name, weight in weights.items())
    return float(1 / (1 + np.exp(-odds))) if findable.any() else 0.0


def chances(share: Doubles, answer: float, calibration: Calibration) -> Floats:
    """The probability of each passage to be an answer, 0 where the share is, shape (passages,).

    The logistic function of slope · logit(share · answer) + first, of the best passage alone, + constant. They do not sum to 1:
    several passages may answer. answer: probability that anything does.
    """
    there = share > 0
    joint = np.clip(share[there] * answer, LEAST, 1 - LEAST)
    odds = calibration.slope * np.log(joint / (1 - joint)) + calibration.constant
    odds[joint == joint.max(initial=0)] += calibration.first
    chance = np.zeros(len(share), np.float32)
    chance[there] = 1 / (1 + np.exp(-odds))
    return chance
