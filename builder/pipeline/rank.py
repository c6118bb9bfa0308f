"""Fuse the signals into one order of passages."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from builder.pipeline import signals
from builder.pipeline.history import View
from builder.pipeline.query import Query

Floats = NDArray[np.float32]
Weighted = tuple[Callable[[Query, View], Floats], float]

# The hand-set line of `reference/retrieval.md` §3: z-scores keep the margins that rank fusion throws away.
_NORMALISED: tuple[Weighted, ...] = ((signals.context_words, 1.0), (signals.similarity, 0.8), (signals.sitting_words, 0.4))
_PLAIN: tuple[Weighted, ...] = ((signals.speaker, 2.0), (signals.log_tokens, 0.5), (signals.asks, -0.7))


def rank(query: Query, view: View) -> Floats:
    """One score a passage, higher is better, shape (passages,)."""
    score = np.zeros(view.passages, np.float32)
    for signal, weight in _NORMALISED:
        score += weight * _standardised(signal(query, view))
    for signal, weight in _PLAIN:
        score += weight * signal(query, view)
    return score


def _standardised(values: Floats) -> Floats:
    spread = float(values.std()) if len(values) else 0.0
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)
