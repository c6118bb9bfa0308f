"""Fuse the signals into one order of passages; weights are data: `ranker.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from builder.recall.index.breadcrumb_table import Floats
from builder.recall.index.view import View
from builder.recall.search.chance import Calibration
from builder.recall.search.query import Query
from builder.recall.search.signals import SIGNALS, Signal

MEANING = frozenset({"similarity", "window_similarity", "nearest"})
"""Signals and evidence that need vectors."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a score."""

    passages: Mapping[str, float]
    """Signal → weight, of a passage's score."""
    answer: Mapping[str, float]
    """Evidence → weight, of the log odds that anything answers (`chance.EVIDENCE`)."""
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class Ranker:
    """The sets of weights."""

    hybrid: Weights
    """Where the query and a passage have vectors."""
    words: Weights
    """Where the query, or every passage, has none."""

    def weights(self, query: Query, view: View) -> Weights:
        """`hybrid` as soon as any passage has a vector to compare."""
        return self.hybrid if query.vector and view.prefix.has_vector.any() else self.words


def rank(query: Query, view: View, weights: Mapping[str, float]) -> Floats:
    """One score a passage, higher is better, shape (passages,)."""
    score = np.zeros(view.passages, np.float32)
    raw: dict[Signal, Floats] = {}
    for name, weight in weights.items():
        signal, scale = SIGNALS[name]
        if signal not in raw:
            raw[signal] = signal(query, view)
        score += np.float32(weight) * scale(raw[signal])
    return score
