"""The lines of a summary: which of them still hold, and in what order they are shown."""

from collections.abc import Iterable
from heapq import merge

from builder.domain.summary import Line, Source
from builder.pipeline.view import View

Placed = tuple[tuple[int, ...], Line]
"""A line behind the rows of its sources."""


def still_holding(view: View, lines: Iterable[Line]) -> tuple[Line, ...]:
    """Those whose sources have neither been deleted nor edited since."""
    return tuple(line for _, line in _placed(view, lines))


def shown_lines(
    view: View, verbatim: Iterable[Line], free: Iterable[Line], told: frozenset[int] = frozenset()
) -> tuple[Line, ...]:
    """Those that still hold, in place order; the order that a model gave the free ones among themselves stays.

    told: rows that are shown anyway; a line that was made from nothing else is left out.
    """
    kept = sorted(_placed(view, verbatim), key=_first)
    return tuple(line for rows, line in merge(kept, _placed(view, free), key=_first) if not told.issuperset(rows))


def _placed(view: View, lines: Iterable[Line]) -> list[Placed]:
    """Those that still hold."""
    placed = ((tuple(_row(view, source) for source in line.sources), line) for line in lines)
    return [(rows, line) for rows, line in placed if -1 not in rows]


def _row(view: View, source: Source) -> int:
    """The row of a source in this version, -1 when it counts no more."""
    row = view.row_of(source[0])
    holds = row >= 0 and view.current[row] and view.history.rows[row].breadcrumb.version == source[1]
    return row if holds else -1


def _first(placed: Placed) -> int:
    return placed[0][0]
