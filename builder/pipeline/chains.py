"""Chains of summaries: each names the one it replaces, so two workers that summarise at once cannot say a thing twice.

The first in place order that names the head of a chain is its new head; whatever else names the same one is passed over.
"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.summary import Summary, read_summary


@dataclass(frozen=True, slots=True)
class _Link:
    """row: of the summary. before: number of the link that it replaces, -1 for the first."""

    row: int
    identity: str
    before: int


@dataclass(slots=True)
class Chains:
    """Of all sessions of a history; grows by new summaries only."""

    _links: defaultdict[tuple[int, str], list[_Link]] = field(default_factory=lambda: defaultdict(list))
    _summaries: dict[int, Summary] = field(default_factory=dict)

    def add(self, row: int, session: int, crumb: Breadcrumb, superseded_by: NDArray[np.int64]) -> None:
        """Append a summary when it names the head of its chain. superseded_by: as of its row; -1 = by nobody."""
        summary = read_summary(crumb)
        links = self._links[session, summary.recipe]
        head = next((number for number in range(len(links) - 1, -1, -1) if superseded_by[links[number].row] < 0), -1)
        if summary.previous == (links[head].identity if head >= 0 else "") and crumb.version == 1:
            links.append(_Link(row, crumb.id, head))
            self._summaries[row] = summary

    def summary(self, row: int) -> Summary:
        """What the summary of a row says that one of the other methods gave: read once, when it was added."""
        return self._summaries[row]

    def rows(self, session: int, recipe: str, current: NDArray[np.bool_]) -> tuple[int, ...]:
        """The chain as of a view, oldest first. current: which rows still count, shape (size,); a deleted head counts no more."""
        links = self._links.get((session, recipe), [])
        at = next((n for n in range(len(links) - 1, -1, -1) if links[n].row < len(current) and current[links[n].row]), -1)
        chain: list[int] = []
        while at >= 0:
            chain.insert(0, links[at].row)
            at = links[at].before
        return tuple(chain)

    def head(self, session: int, recipe: str, current: NDArray[np.bool_]) -> int:
        """Row of the newest summary that counts, -1 when there is none."""
        held = reversed(self._links.get((session, recipe), ()))
        return next((link.row for link in held if link.row < len(current) and current[link.row]), -1)

    def shown(self, session: int, recipe: str, current: NDArray[np.bool_], moved: int) -> int:
        """Row of the newest summary that counts and came before the hot window last moved, with row `moved`, or was asked for.

        The newest of all while there is no such one, -1 when there is none at all.
        """
        links = self._links.get((session, recipe), ())
        held = [link for link in links if link.row < len(current) and current[link.row]]
        settled = [link.row for link in held if link.row < moved or self._summaries[link.row].at_once]
        return (settled or [link.row for link in held] or [-1])[-1]

    def lost(self, session: int, recipe: str, current: NDArray[np.bool_]) -> int:
        """How many summaries of the chain were deleted again."""
        return sum(link.row < len(current) and not current[link.row] for link in self._links.get((session, recipe), ()))
