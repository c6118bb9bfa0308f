"""Chains of summaries: each names the one it continues, so two workers that summarise at once cannot say a thing twice.

The first in place order that names the head of a chain is its new head; whatever else names the same one is passed over. A
summary that is deleted takes those that continue it with it. One that has ended or that a blacklist names is only not shown:
what continues it stays.
"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.summary import Line, Summary, read_summary
from builder.recall.index.arrays import GrowingArray

Ints = NDArray[np.int64]
Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    """before: row of the link that it continues, -1 for the first.

    verbatim: row of the newest link, this one or one before it, that has lines word for word; -1 for none.
    """

    identity: str
    summary: Summary
    before: int
    verbatim: int


@dataclass(slots=True)
class Chains:
    """Of all sessions of a history; grows by new summaries only."""

    _rows: defaultdict[tuple[int, str], GrowingArray[np.int64]] = field(
        default_factory=lambda: defaultdict(lambda: GrowingArray(np.int64))
    )
    _links: dict[int, _Link] = field(default_factory=dict)

    def add(self, row: int, session: int, crumb: Breadcrumb, superseded_by: Ints) -> None:
        """Append a summary when it names the head of its chain. superseded_by: as of its row; -1 = by nobody."""
        summary = read_summary(crumb)
        held = self._rows[session, summary.recipe]
        rows = held.head(len(held))
        head = _last(self._unbroken(rows, superseded_by[rows] < 0))
        if summary.previous == (self._links[head].identity if head >= 0 else "") and crumb.version == 1:
            before = self._links[head].verbatim if head >= 0 else -1
            verbatim = row if any(line.verbatim for line in summary.lines) else before
            self._links[row] = _Link(identity=crumb.id, summary=summary, before=head, verbatim=verbatim)
            held.append(row)

    def summary(self, row: int) -> Summary:
        """What the summary of a row says that one of the other methods gave: read once, when it was added."""
        return self._links[row].summary

    def verbatim(self, row: int, seen: Rows) -> tuple[Line, ...]:
        """What the summary of a row and those before it in its chain keep word for word, oldest summary first, each line once.

        Those that were made before versions stood in them repeat what the ones before them keep. seen: rows of summaries whose
        lines are wanted, shape (size,).
        """
        found: list[tuple[Line, ...]] = []
        while row >= 0 and (row := self._links[row].verbatim) >= 0:
            found.append(tuple(line for line in self._links[row].summary.lines if line.verbatim and seen[row]))
            row = self._links[row].before
        lines = (line for lines in reversed(found) for line in lines)
        return tuple({(line.text, line.sources): line for line in lines}.values())

    def rows(self, session: int, recipe: str, kept: Rows) -> tuple[int, ...]:
        """The chain as of a view, oldest first. kept: rows that were neither replaced nor deleted, shape (size,)."""
        rows = self._known(session, recipe, len(kept))
        return tuple(self._unbroken(rows, kept[rows]).tolist())

    def head(self, session: int, recipe: str, kept: Rows) -> int:
        """Row of the newest summary of the chain, -1 when there is none."""
        rows = self._known(session, recipe, len(kept))
        return _last(self._unbroken(rows, kept[rows]))

    def shown(self, session: int, recipe: str, kept: Rows, seen: Rows, moved: int) -> int:
        """Row of the newest summary that is seen and came before the hot window last moved, with row `moved`, or was asked for.

        The newest that is seen while there is no such one, -1 when there is none at all. seen: rows that the consumer may see,
        shape (size,).
        """
        held = [row for row in self.rows(session, recipe, kept) if seen[row]]
        settled = (row for row in reversed(held) if row < moved or self._links[row].summary.at_once)
        return next(settled, held[-1] if held else -1)

    def _known(self, session: int, recipe: str, size: int) -> Ints:
        """Rows of all summaries that were ever in the chain, below `size`."""
        held = self._rows.get((session, recipe))
        rows = held.head(len(held)) if held else np.zeros(0, np.int64)
        return rows[: np.searchsorted(rows, size)]

    def _unbroken(self, rows: Ints, counts: Rows) -> Ints:
        """Those of these rows that count and continue only what counts. counts: which do, shape of the rows."""
        if counts.all():
            return rows
        whole = {-1}
        for row in rows[counts].tolist():
            whole.update({row} if self._links[row].before in whole else ())
        return rows[[row in whole for row in rows.tolist()]]


def _last(rows: Ints) -> int:
    return int(rows[-1]) if len(rows) else -1
