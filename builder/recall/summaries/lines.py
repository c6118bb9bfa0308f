"""The lines of a summary: which of them still hold, and in what order they are shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import merge

from builder.domain.summary import Line, Source
from builder.recall.index.view import View

Placed = tuple[tuple[int, ...], Line]
"""A line behind the rows of its sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a page shows anyway, so that a summary need not.

    rows: of which it shows all. parts: row → what it shows of it. outdated: rows of which nothing holds any more; only lines word
    for word still tell of them.
    """

    rows: frozenset[int] = frozenset()
    parts: Mapping[int, str] = field(default_factory=dict)
    outdated: frozenset[int] = frozenset()


NOTHING = Shown()


def still_holding(view: View, lines: Iterable[Line]) -> tuple[Line, ...]:
    """Those whose sources have neither been deleted nor edited since."""
    return tuple(line for _, line in _placed(view, lines))


def shown_lines(view: View, verbatim: Iterable[Line], free: Iterable[Line], anyway: Shown = NOTHING) -> tuple[Line, ...]:
    """Those that still hold, in place order; the order that a model gave the free ones among themselves stays.

    anyway: a line that was made from nothing else is left out.
    """
    kept = sorted(_placed(view, verbatim), key=_first)
    return tuple(line for rows, line in merge(kept, _placed(view, free), key=_first) if not _repeats(view, rows, line, anyway))


def _placed(view: View, lines: Iterable[Line]) -> list[Placed]:
    """Those that still hold."""
    placed = ((tuple(_row(view, source) for source in line.sources), line) for line in lines)
    return [(rows, line) for rows, line in placed if -1 not in rows]


def _repeats(view: View, rows: tuple[int, ...], line: Line, anyway: Shown) -> bool:
    """Whether a page shows anyway what a line says, or nothing of it holds any more."""
    known = anyway.rows if line.verbatim else anyway.rows | anyway.outdated
    if known.issuperset(rows):
        return True
    if len(rows) > 1 or rows[0] not in anyway.parts:
        return False
    said = line.text.removeprefix(f"{view.breadcrumb(rows[0]).speaker}: ")
    return " ".join(said.casefold().split()) in " ".join(anyway.parts[rows[0]].casefold().split())


def _row(view: View, source: Source) -> int:
    """The row of a source in this version, -1 when it counts no more."""
    row = view.row_of(source[0])
    holds = row >= 0 and view.current[row] and view.breadcrumb(row).version == source[1]
    return row if holds else -1


def _first(placed: Placed) -> tuple[int, bool]:
    """Its place; of one breadcrumb what is word for word comes last: a question stands in front of its answer."""
    return placed[0][0], placed[1].verbatim
