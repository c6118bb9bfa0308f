"""Chains of summaries: each names the one it continues, so two workers that summarise at once cannot say a thing twice.

The first that names the head of a chain is its new head. A deleted summary takes along those that continue it.
"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.summary import Line, Summary, read_summary
from builder.recall.index.breadcrumb_table import GrowingArray

Ints = NDArray[np.int64]
Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    """A summary of a chain."""

    identity: str
    summary: Summary
    before: int
    """Row of the link that it continues; -1 = none."""
    lasting: int
    """Row of the newest link up to this one that has lasting lines; -1 = none."""


@dataclass(slots=True)
class Chains:
    """Of all sessions of a history; grows by new summaries only."""

    _rows: defaultdict[tuple[int, str], GrowingArray[np.int64]] = field(
        default_factory=lambda: defaultdict(lambda: GrowingArray(np.int64))
    )
    _links: dict[int, _Link] = field(default_factory=dict)

    def add(self, row: int, session: int, crumb: Breadcrumb, superseded_by: Ints) -> None:
        """Append a summary that names the head of its chain. superseded_by: as of its row; -1 = by none."""
        summary = read_summary(crumb)
        chain_rows = self._rows[session, summary.recipe]
        rows = chain_rows.head(len(chain_rows))
        head = _last(self._unbroken(rows, superseded_by[rows] < 0))
        if summary.previous == (self._links[head].identity if head >= 0 else "") and crumb.version == 1:
            before = self._links[head].lasting if head >= 0 else -1
            lasting = row if any(line.is_lasting for line in summary.lines) else before
            self._links[row] = _Link(identity=crumb.id, summary=summary, before=head, lasting=lasting)
            chain_rows.append(row)

    def summary(self, row: int) -> Summary:
        """The summary of a row that another method returned; it was parsed when it was added."""
        return self._links[row].summary

    def lasting(self, row: int, visible: Rows) -> tuple[Line, ...]:
        """The lasting lines of a summary and of those before it in its chain, the oldest first, each once.

        visible: rows of summaries whose lines count, shape (size,).
        """
        lines_by_summary: list[tuple[Line, ...]] = []
        while row >= 0 and (row := self._links[row].lasting) >= 0:
            lines_by_summary.append(tuple(line for line in self._links[row].summary.lines if line.is_lasting and visible[row]))
            row = self._links[row].before
        lines = (line for lines in reversed(lines_by_summary) for line in lines)
        return tuple({(line.text, line.sources): line for line in lines}.values())

    def rows(self, session: int, recipe: str, latest: Rows) -> tuple[int, ...]:
        """The chain as of a view, oldest first. latest: rows that nothing has replaced or deleted, shape (size,)."""
        rows = self._rows_below(session, recipe, len(latest))
        return tuple(self._unbroken(rows, latest[rows]).tolist())

    def of_recipe(self, recipe: str, latest: Rows) -> tuple[int, ...]:
        """The chains of a recipe in all sessions. latest: as in `rows`."""
        return tuple(row for session, name in self._rows if name == recipe for row in self.rows(session, name, latest))

    def head(self, session: int, recipe: str, latest: Rows) -> int:
        """Row of the newest summary of the chain, -1 when there is none."""
        rows = self._rows_below(session, recipe, len(latest))
        return _last(self._unbroken(rows, latest[rows]))

    def newest_visible(self, session: int, recipe: str, latest: Rows, visible: Rows, moved_at: int) -> int:
        """Row of the newest visible summary from before the window moved at row `moved_at`, or made on request.

        Else the newest visible one; -1 = none. visible: shape (size,).
        """
        chain_rows = [row for row in self.rows(session, recipe, latest) if visible[row]]
        settled = (row for row in reversed(chain_rows) if row < moved_at or self._links[row].summary.at_once)
        return next(settled, chain_rows[-1] if chain_rows else -1)

    def _rows_below(self, session: int, recipe: str, size: int) -> Ints:
        chain_rows = self._rows.get((session, recipe))
        rows = chain_rows.head(len(chain_rows)) if chain_rows else np.zeros(0, np.int64)
        return rows[: np.searchsorted(rows, size)]

    def _unbroken(self, rows: Ints, counts: Rows) -> Ints:
        """The rows that count and continue only rows that count. counts: shape of the rows."""
        if counts.all():
            return rows
        whole = {-1}
        for row in rows[counts].tolist():
            whole.update({row} if self._links[row].before in whole else ())
        return rows[[row in whole for row in rows.tolist()]]


def _last(rows: Ints) -> int:
    return int(rows[-1]) if len(rows) else -1
