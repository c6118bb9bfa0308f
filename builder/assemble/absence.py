"""The account of what is not on a page."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from builder.domain.context import Omission
from builder.recall.index.breadcrumb_table import Floats, Ints
from builder.recall.index.view import View
from builder.recall.search.scoring import best_of

MAX_OMISSIONS = 50


@dataclass(frozen=True, slots=True)
class Absence:
    """The account of everything that is not on the finished page."""

    omissions: tuple[Omission, ...]
    by_reason: Mapping[str, int]
    rows: Mapping[str, Ints]
    """Reason → rows of all, in place order; those that are in no view are missing."""
    tokens: int
    """Tokens of all of them, by stored counts."""


@dataclass(slots=True)
class OmissionLog:
    """In the order of relevance; the first decision about a row counts."""

    view: View
    _omissions: list[Omission] = field(default_factory=list)
    _groups: list[tuple[str, Ints, Floats]] = field(default_factory=list)
    """Reason, rows, and the score of each."""

    def name(self, omissions: Iterable[Omission]) -> None:
        """Leave out single breadcrumbs, the most relevant first."""
        self._omissions += omissions

    def add(self, reason: str, rows: Ints | Iterable[int], scores: Floats | None = None) -> None:
        """Leave out rows; an array has them in place order. scores: how relevant each of them is; None = the later, the more."""
        every = rows if isinstance(rows, np.ndarray) else np.array(sorted(rows), np.int64)
        self._groups.append((reason, every, every.astype(np.float32) if scores is None else scores))

    def absence(self, page_ids: set[str], others: frozenset[int], probability: Callable[[int], float | None]) -> Absence:
        """The account of a page. others: rows of which it says all without naming them. probability: of a row."""
        counted = np.zeros(self.view.size, np.bool_)
        counted[[row for name in page_ids if (row := self.view.row_of(name)) >= 0]] = True
        counted[list(others)] = True
        omissions: dict[str, Omission] = {}
        rows: defaultdict[str, list[Ints]] = defaultdict(list)
        for omission in self._omissions:
            row = self.view.row_of(omission.id)
            if omission.id not in page_ids and omission.id not in omissions and row not in others:
                omissions[omission.id] = omission
                rows[omission.reason].append(np.array([row], np.int64))
                counted[[row] if row >= 0 else []] = True
        for reason, every, scores in self._groups:
            fresh = np.flatnonzero(~counted[every])
            counted[every] = True
            rows[reason].append(every[fresh])
            for row in every[best_of(scores, fresh, max(MAX_OMISSIONS - len(omissions), 0))].tolist():
                name = self.view.breadcrumb(row).id
                omissions.setdefault(name, Omission(id=name, reason=reason))
        whole = {reason: np.sort(np.concatenate(rows[reason])) for reason in sorted(rows)}
        by_reason = {reason: len(every) for reason, every in whole.items() if len(every)}
        in_view = {reason: whole[reason][whole[reason] >= 0] for reason in by_reason}
        relevant = tuple(self._rated(each, probability) for each in islice(omissions.values(), MAX_OMISSIONS))
        tokens = sum(int(self.view.tokens[every].sum()) for every in in_view.values())
        return Absence(relevant, by_reason, in_view, tokens)

    def _rated(self, omission: Omission, probability: Callable[[int], float | None]) -> Omission:
        """With its probability, and the tokens of all of it where who left it out did not count."""
        row = self.view.row_of(omission.id)
        tokens = omission.tokens if omission.tokens or row < 0 else int(self.view.tokens[row])
        return replace(omission, tokens=tokens, probability=probability(row))
