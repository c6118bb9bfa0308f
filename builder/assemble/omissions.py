"""What is not on a page, and why: each step says so when it decides; what another step puts on the page is taken off."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from builder.domain.context import Omission
from builder.recall.index.view import Ints, View

MAX_OMISSIONS = 50
"""Omissions that are named; all are counted."""


@dataclass(frozen=True, slots=True)
class Absence:
    """The account of everything that is not on the finished page."""

    omissions: tuple[Omission, ...]
    """The most relevant."""
    by_reason: Mapping[str, int]
    """Reason → how many of all."""
    rows: Mapping[str, Ints]
    """Reason → rows of all, in place order; those that are in no view are missing."""


@dataclass(slots=True)
class OmissionLog:
    """In the order of relevance; the first decision about a row counts."""

    view: View
    _omissions: list[Omission] = field(default_factory=list)
    _groups: list[tuple[str, list[int], Iterable[int]]] = field(default_factory=list)
    """Reason, rows, and those of them that may be named."""

    def name(self, omissions: Iterable[Omission]) -> None:
        """Leave out single breadcrumbs, the most relevant first."""
        self._omissions += omissions

    def add(self, reason: str, rows: Ints | Iterable[int], nearest: Iterable[int] | None = None) -> None:
        """Leave out rows. nearest: those that may be named, the most relevant first; None = the rows."""
        every = list(rows)
        self._groups.append((reason, every, every if nearest is None else nearest))

    def absence(self, page_ids: set[str], others: frozenset[int]) -> Absence:
        """The account of a page. others: rows of which it says all without naming them."""
        counted = np.zeros(self.view.size, np.bool_)
        counted[[row for name in page_ids if (row := self.view.row_of(name)) >= 0]] = True
        counted[list(others)] = True
        omissions: dict[str, Omission] = {}
        rows: defaultdict[str, list[int]] = defaultdict(list)
        for omission in self._omissions:
            row = self.view.row_of(omission.id)
            if omission.id not in page_ids and omission.id not in omissions and row not in others:
                omissions[omission.id] = omission
                rows[omission.reason].append(row)
                counted[[row] if row >= 0 else []] = True
        for reason, every, nearest in self._groups:
            fresh = np.zeros(self.view.size, np.bool_)
            fresh[every] = True
            fresh &= ~counted
            counted |= fresh
            rows[reason] += np.flatnonzero(fresh).tolist()
            for row in nearest:
                if len(omissions) >= MAX_OMISSIONS:
                    break
                if fresh[row]:
                    name = self.view.breadcrumb(row).id
                    omissions.setdefault(name, Omission(id=name, reason=reason, tokens=int(self.view.tokens[row])))
        by_reason = {reason: len(rows[reason]) for reason in sorted(rows) if rows[reason]}
        in_view = {reason: np.array(sorted(row for row in rows[reason] if row >= 0), np.int64) for reason in by_reason}
        return Absence(tuple(omissions.values())[:MAX_OMISSIONS], by_reason, in_view)
