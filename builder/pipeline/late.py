"""Late interaction: the best passages in a new order, by how well each word piece of the question is met somewhere in them.

MaxSim over the token vectors of the forward pass that made the passage's vector. The service reads those of the best passages
only, before assembly; what they say is one more signal beside the others, whose weights are learned together with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builder.domain.facts import PassageKey
from builder.domain.profile import Retrieval
from builder.pipeline.query import Query
from builder.pipeline.rank import MAX_SIM, SIGNALS, Ranker, features
from builder.pipeline.retrieve import best_of, may_be_found
from builder.pipeline.view import View

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """What is put in order anew. scores: one a passage of the view, shape (passages,).

    passages: best first, shape (best,). late: their sum of the signals by the weights of late interaction, shape (best,).
    """

    scores: Floats
    passages: Ints
    late: Floats


@dataclass(frozen=True, slots=True)
class Reordered:
    """scores: one a passage of the view. complete: whether each passage that was looked at had token vectors."""

    scores: Floats
    complete: bool


def best_passages(query: Query, view: View, rules: Retrieval, ranker: Ranker) -> Best:
    """The first ranking. The hot window's passages count: which of them are shown elsewhere is known only in assembly."""
    signals = features(query, view)
    scores = _weighted(signals, ranker.weights(query, view))
    may_be = may_be_found(query, view, frozenset(), rules)
    best = best_of(scores, np.flatnonzero(may_be), rules.rerank)
    return Best(scores=scores, passages=best, late=_weighted(signals[best], ranker.late))


def keys_of(view: View, passages: Ints) -> tuple[PassageKey, ...]:
    """Where the store keeps their token vectors."""
    rows = [(int(passage), int(view.crumb[passage])) for passage in passages]
    held = [(view.history.rows[row].breadcrumb, passage - view.history.first_passage(row)) for passage, row in rows]
    return tuple(PassageKey(crumb.session, crumb.place, ordinal) for crumb, ordinal in held)


def reorder(query: Query, best: Best, held: Sequence[bytes], ranker: Ranker) -> Reordered:
    """The best passages share out their scores anew; no other passage moves against them, and a threshold keeps its meaning.

    held: the token vectors of each of the best; a passage without any gets the mean of the others. Where more than half have
    none, the order stays: the few would stand far out of a crowd that has the mean. Ties stay in their order.
    """
    known = np.array([bool(each) for each in held], np.bool_)
    if 2 * np.count_nonzero(known) < len(known):
        return Reordered(best.scores, complete=False)
    gain = np.where(known, told(met(query, held), known), 0)
    order = np.argsort(-(best.late + np.float32(ranker.late.get(MAX_SIM, 0)) * gain), kind="stable")
    scores = best.scores.copy()
    scores[best.passages[order]] = best.scores[best.passages]
    return Reordered(scores, complete=bool(known.all()))


def met(query: Query, held: Sequence[bytes]) -> Floats:
    """The highest cosine of each of the question's pieces with any of a passage's, shape (passages, pieces of the question).

    Times the square of the scale that token vectors are stored in, which `told` takes out. 0 for a passage without pieces.
    """
    width = len(query.vector) // 2
    asked = _pieces(query.token_vectors, width)
    found = np.zeros((len(held), len(asked)), np.float32)
    for number, pieces in enumerate(held):
        if pieces:
            found[number] = (_pieces(pieces, width) @ asked.T).max(0)
    return found


def told(met_: Floats, among: Flags) -> Floats:
    """MaxSim in standard deviations from the mean of the passages `among`, shape (passages,).

    A piece of the question weighs as much as it tells those passages apart: "the" is met in all of them alike.
    """
    if not among.any():
        return np.zeros(len(met_), np.float32)
    total = met_ @ met_[among].std(0)
    spread = float(total[among].std())
    return np.asarray((total - total[among].mean()) / spread if spread > 0 else np.zeros_like(total), np.float32)


def _pieces(token_vectors: bytes, width: int) -> Floats:
    """As `Embedder.embed_tokens` gave them → shape (pieces, width)."""
    return np.frombuffer(token_vectors, np.int8).astype(np.float32).reshape(-1, width)


def _weighted(signals: Floats, weights: Mapping[str, float]) -> Floats:
    """The sum of the signals, shape (passages, signals) → (passages,)."""
    return np.asarray(signals @ np.array([weights.get(name, 0) for name in SIGNALS], np.float32), np.float32)
