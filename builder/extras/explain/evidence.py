"""Why a search found a passage, or did not: its signals and their points."""

from functools import cached_property

import numpy as np

from builder.extras.explain.context_receipt import Evidence, Question, SignalValue
from builder.recall.index.breadcrumb_table import Floats, Ints
from builder.recall.index.view import View
from builder.recall.search.candidates import Candidates
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker
from builder.recall.search.signals import SIGNALS


class SearchEvidence:
    """Explains what one search found; signals are computed again when asked."""

    def __init__(self, query: Query, view: View, ranker: Ranker, candidates: Candidates | None) -> None:
        self._query = query
        self._view = view
        self._candidates = candidates
        self._weights = ranker.weights(query, view).passages if candidates else {}

    def question(self, min_probability: float | None) -> Question:
        """The question, for a receipt."""
        query, candidates = self._query, self._candidates
        return Question(
            text=query.text,
            terms=query.terms,
            names=tuple(sorted(query.names)),
            is_small_talk=query.is_small_talk,
            has_vector=bool(query.vector),
            candidates=int(np.count_nonzero(candidates.unseen)) if candidates else 0,
            unanswered=1 - candidates.answered if candidates else None,
            min_probability=min_probability,
        )

    def of_row(self, row: int, spans: tuple[tuple[int, int], ...] = ()) -> Evidence | None:
        """The evidence of a breadcrumb's best passage; None = no candidate. spans: only of these."""
        if self._candidates is None or row < 0:
            return None
        table = self._view.history.passages
        numbers = range(table.first(row), table.first(row + 1))  # none of small talk
        passages = [
            number
            for number, passage in zip(numbers, self._view.history.rows[row].passages, strict=False)
            if number < self._view.passages
            and self._candidates.unseen[number]
            and (not spans or any(passage.start < end and start < passage.end for start, end in spans))
        ]
        return self._of_passage(max(passages, key=lambda each: float(self._scores[each]))) if passages else None

    def by_relevance(self, rows: Ints) -> list[int]:
        """The rows, the most relevant first, then the newest."""
        best = np.full(self._view.size, -np.inf)
        if self._candidates is not None:
            unseen = np.flatnonzero(self._candidates.unseen)
            np.maximum.at(best, self._view.crumb[unseen], self._scores[unseen])
        ordered: list[int] = rows[np.lexsort((-rows, -best[rows]))].tolist()
        return ordered

    @property
    def _scores(self) -> Floats:
        return self._candidates.scores if self._candidates else np.zeros(0, np.float32)

    @cached_property
    def _ranks(self) -> Ints:
        """From 1, ties to the later passage; shape (passages,), 0 elsewhere."""
        unseen = np.flatnonzero(self._candidates.unseen) if self._candidates else np.zeros(0, np.int64)
        ranks = np.zeros(self._view.passages, np.int64)
        ranks[unseen[np.lexsort((-unseen, -self._scores[unseen]))]] = np.arange(1, len(unseen) + 1)
        return ranks

    @cached_property
    def _signals(self) -> dict[str, tuple[Floats, Floats]]:
        """Name → values and points, each of shape (passages,). Points count from the mean of the candidates."""
        raw = {SIGNALS[name][0]: SIGNALS[name][0](self._query, self._view) for name in self._weights}
        candidates = self._candidates.unseen if self._candidates else np.zeros(0, np.bool_)
        signals = {}
        for name, weight in self._weights.items():
            signal, scale = SIGNALS[name]
            points = np.float32(weight) * scale(raw[signal])
            signals[name] = (raw[signal], points - points[candidates].mean())
        return signals

    def _of_passage(self, passage: int) -> Evidence | None:
        if self._candidates is None:
            return None
        signals = (
            SignalValue(
                name=name, value=None if np.isnan(values[passage]) else float(values[passage]), points=float(points[passage])
            )
            for name, (values, points) in self._signals.items()
        )
        return Evidence(
            probability=float(self._candidates.probability[passage]),
            rank=int(self._ranks[passage]),
            candidates=int(self._ranks.max()),
            signals=tuple(sorted(signals, key=lambda each: (-abs(each.points), each.name))),
        )
