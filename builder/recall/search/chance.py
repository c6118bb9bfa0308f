"""Whether anything answers a question, and the chance of each passage to do so."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from builder.language.questions import asks_within
from builder.recall.index.breadcrumb_table import Doubles, Floats, Rows, idf
from builder.recall.index.view import View
from builder.recall.search.query import Query
from builder.recall.search.signals import similarity

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


EVIDENCE = ("constant", "nearest", "known", "shared", "peak", "log_passages", "log_terms", "asks")
"""Terms of the linear sum that gives the log odds that anything answers."""


def evidence(query: Query, view: View, share: Doubles, findable: Rows) -> dict[str, float]:
    """Each term of EVIDENCE, where something may be found. share: of each passage. findable: passages that may be found."""
    cosines = similarity(query, view)[findable]
    there = cosines[~np.isnan(cosines)]
    return {
        "constant": 1.0,
        "nearest": float(there.max()) if len(there) else 0.0,
        "known": _share_of_terms(query, view),
        "shared": _shared(query, view, share),
        "peak": float(share.max()),
        "log_passages": float(np.log(view.passages)),
        "log_terms": float(np.log1p(len(query.terms))),
        "asks": float(asks_within(query.text)),
    }


def _share_of_terms(query: Query, view: View) -> float:
    """Share of the question's terms that any passage has."""
    terms = query.terms
    return sum(len(view.prefix.occurrences(term).passages) > 0 for term in terms) / len(terms) if terms else 0.0


def _shared(query: Query, view: View, share: Doubles) -> float:
    """Share of the question's terms that the best passage has; a rare term counts more."""
    numbers, passages, _ = view.prefix.postings(query.terms)
    holding = np.bincount(numbers, minlength=len(query.terms))
    weights = idf(holding, view.passages)
    total = float(weights.sum())
    return float(weights[numbers[passages == share.argmax()]].sum()) / total if total > 0 else 0.0


def answered(query: Query, view: View, share: Doubles, findable: Rows, weights: Mapping[str, float]) -> float:
    """The probability that anything answers. weights: name in EVIDENCE → weight."""
    if not findable.any():
        return 0.0
    values = evidence(query, view, share, findable)
    return float(1 / (1 + np.exp(-sum(weight * values[name] for name, weight in weights.items()))))


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
