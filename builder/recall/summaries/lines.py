"""The lines of a summary: which of them are still valid, and in what order they are shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import merge

from builder.domain.summary import Line, Source
from builder.recall.index.view import View

LineWithRows = tuple[tuple[int, ...], Line]
"""A line behind the rows of its sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """What a page shows beside its summary, so that the summary need not repeat it."""

    rows: frozenset[int] = frozenset()
    """Rows of which it shows all."""
    parts: Mapping[int, str] = field(default_factory=dict)
    """Row → what it shows of it."""
    outdated: frozenset[int] = frozenset()
    """Rows that a later instruction contradicts; only lines word for word still quote them."""


EMPTY_PAGE = PageContent()


def valid_lines(view: View, lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines whose sources have neither been deleted nor edited since."""
    return tuple(line for _, line in _with_rows(view, lines))


def shown_lines(view: View, verbatim: Iterable[Line], free: Iterable[Line], page: PageContent = EMPTY_PAGE) -> tuple[Line, ...]:
    """The valid lines that the page does not show, in place order; the free ones keep the order that a model gave them."""
    first = sorted(_with_rows(view, verbatim), key=_order)
    return tuple(line for rows, line in merge(first, _with_rows(view, free), key=_order) if not _repeats(view, rows, line, page))


def _with_rows(view: View, lines: Iterable[Line]) -> list[LineWithRows]:
    """The valid lines, each with the rows of its sources."""
    pairs = ((tuple(_row(view, source) for source in line.sources), line) for line in lines)
    return [(rows, line) for rows, line in pairs if -1 not in rows]


def _repeats(view: View, rows: tuple[int, ...], line: Line, page: PageContent) -> bool:
    """Whether the page shows all that a line says, or the line is outdated."""
    if (page.rows if line.verbatim else page.rows | page.outdated).issuperset(rows):
        return True
    if len(rows) > 1 or rows[0] not in page.parts:
        return False
    words = line.text.removeprefix(f"{view.stored_name(rows[0])}: ")
    return " ".join(words.casefold().split()) in " ".join(page.parts[rows[0]].casefold().split())


def _row(view: View, source: Source) -> int:
    """The row of a source, -1 when this version of it is not current."""
    row = view.row_of(source[0])
    is_current = row >= 0 and view.current[row] and view.breadcrumb(row).version == source[1]
    return row if is_current else -1


def _order(pair: LineWithRows) -> tuple[int, bool]:
    """By the first source; of one breadcrumb a line word for word comes last: a question stands in front of its answer."""
    return pair[0][0], pair[1].verbatim
