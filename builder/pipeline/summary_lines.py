"""The lines of a summary: which of them still hold, and in what order they are shown."""

from collections.abc import Iterable
from heapq import merge

from builder.domain.summary import Line, Source
from builder.pipeline.view import View


def still_holding(view: View, lines: Iterable[Line]) -> tuple[Line, ...]:
    """Those whose sources have neither been deleted nor edited since."""
    return tuple(line for line in lines if all(_still_holds(view, source) for source in line.sources))


def shown_lines(view: View, verbatim: Iterable[Line], free: Iterable[Line]) -> tuple[Line, ...]:
    """Those that still hold, in place order; the order that a model gave the free ones among themselves stays."""
    kept = sorted(still_holding(view, verbatim), key=lambda line: _order(view, line))
    return tuple(merge(kept, still_holding(view, free), key=lambda line: _order(view, line)))


def _still_holds(view: View, source: Source) -> bool:
    row = view.row_of(source[0])
    return row >= 0 and bool(view.current[row]) and view.history.rows[row].breadcrumb.version == source[1]


def _order(view: View, line: Line) -> int:
    return view.row_of(line.ids[0])
