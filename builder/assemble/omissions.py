"""What is not on a page, and why: each step says so when it decides; what another step still puts on the page is taken off."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from builder.domain.context import Omission
from builder.recall.index.view import Ints, View

MAX_OMISSIONS = 50
"""Omissions that are named; all are counted."""


@dataclass(frozen=True, slots=True)
class Absence:
    """What is not on the finished page."""

    omissions: tuple[Omission, ...]
    """The most relevant."""
    by_reason: Mapping[str, int]
    """Reason → how many of all."""
    rows: Mapping[str, Ints]
    """Reason → rows of all, in place order; those that are in no view are missing."""


@dataclass(frozen=True, slots=True)
class _Decision:
    reason: str
    rows: Ints
    nearest: Iterable[int]
    """Those of the rows that may be named, the most relevant first."""


@dataclass(slots=True)
class Omissions:
    """Decisions in the order of their relevance; the first one about a row is its reason."""

    view: View
    _omissions: list[Omission] = field(default_factory=list)
    _decisions: list[_Decision] = field(default_factory=list)

    def name(self, omissions: Iterable[Omission]) -> None:
        """Leave out single breadcrumbs, the most relevant first."""
        self._omissions += omissions

    def add(self, reason: str, rows: Ints | Iterable[int], nearest: Iterable[int] | None = None) -> None:
        """Leave out rows. nearest: those that may be named, the most relevant first; None = the rows, as they are given."""
        every = list(rows)
        self._decisions.append(_Decision(reason, np.array(every, np.int64), every if nearest is None else nearest))

    def absence(self, page_ids: set[str], others: frozenset[int]) -> Absence:
        """The account of a page with these breadcrumbs. others: rows of which it says all without naming them."""
        counted = np.zeros(self.view.size, np.bool_)
        counted[[row for name in page_ids if (row := self.view.row_of(name)) >= 0]] = True
        counted[list(others)] = True
        omissions: dict[str, Omission] = {}
        rows: defaultdict[str, list[int]] = defaultdict(list)
        reasons: Counter[str] = Counter()
        for omission in self._omissions:
            row = self.view.row_of(omission.id)
            if omission.id not in page_ids and omission.id not in omissions and row not in others:
                omissions[omission.id] = omission
                reasons[omission.reason] += 1
                if row >= 0:
                    counted[row] = True
                    rows[omission.reason].append(row)
        for decision in self._decisions:
            fresh = np.zeros(self.view.size, np.bool_)
            fresh[decision.rows] = True
            fresh &= ~counted
            counted |= fresh
            fresh_rows = np.flatnonzero(fresh)
            rows[decision.reason] += fresh_rows.tolist()
            reasons[decision.reason] += len(fresh_rows)
            for row in decision.nearest:
                if len(omissions) >= MAX_OMISSIONS:
                    break
                if fresh[row]:
                    name = self.view.breadcrumb(row).id
                    tokens = int(self.view.tokens[row])
                    omissions.setdefault(name, Omission(id=name, reason=decision.reason, tokens=tokens))
        by_reason = {reason: number for reason, number in sorted(reasons.items()) if number}
        every = {reason: np.array(sorted(rows[reason]), np.int64) for reason in by_reason}
        return Absence(tuple(omissions.values())[:MAX_OMISSIONS], by_reason, every)
