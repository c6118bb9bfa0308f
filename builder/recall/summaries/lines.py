"""The lines of a summary: which are valid, which of them a page shows, and in which order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge

from builder.domain.summary import KeptLine, Source
from builder.recall.index.view import View

LineWithRows = tuple[tuple[int, ...], KeptLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """The part of a page that its summary need not repeat."""

    rows: frozenset[int] = frozenset()
    parts: Mapping[int, str] = field(default_factory=dict)
    """Row → what it shows of it."""
    replaced: frozenset[str] = frozenset()
    """Ids of observations that it shows elsewhere, or that another one has replaced since."""
    outdated: frozenset[int] = frozenset()
    """Rows that a later instruction contradicts; only lines word for word still quote them."""


EMPTY_PAGE = PageContent()


def with_rows(view: View, lines: Iterable[KeptLine]) -> list[LineWithRows]:
    """The valid lines, each with the rows of its sources."""
    pairs = ((tuple(_row(view, source) for source in line.sources), line) for line in lines)
    return [(rows, line) for rows, line in pairs if -1 not in rows]


def shown_lines(
    view: View, lasting: Iterable[KeptLine], free: Iterable[KeptLine], page: PageContent = EMPTY_PAGE
) -> tuple[KeptLine, ...]:
    """The valid lines that the page does not show and nothing replaces, in place order."""
    first, others = sorted(with_rows(view, lasting), key=_order), with_rows(view, free)
    gone = page.replaced.union(line.replaces for _, line in (*first, *others) if line.replaces)
    lines = merge(first, others, key=_order)
    quotes, others_too = (rows.union(*(view.repeats(row) for row in rows)) for rows in (page.rows, page.rows | page.outdated))
    return tuple(
        line
        for rows, line in lines
        if line.id not in gone and not _repeats(view, rows, line, page.parts, quotes if line.verbatim else others_too)
    )


def line_of(view: View, row: int, sentence: str) -> KeptLine:
    """A line of one row."""
    crumb = view.breadcrumb(row)
    return KeptLine(text=f"{view.stored_name(row)}: {sentence}", day=view.day(row), ids=(crumb.id,), versions=(crumb.version,))


def verbatim_line(view: View, row: int) -> KeptLine:
    """The words of this row as a line."""
    return replace(line_of(view, row, view.breadcrumb(row).text.strip()), verbatim=True)


def tokens_of(lines: Sequence[KeptLine], count: Callable[[str], int]) -> int:
    """Tokens of the lines as the page shows them, the days above them included."""
    days = [line.day for number, line in enumerate(lines) if line.day and (not number or lines[number - 1].day != line.day)]
    return sum(count(f"{line.text}\n") for line in lines) + sum(count(f"[{day}]\n") for day in days)


def _repeats(view: View, rows: tuple[int, ...], line: KeptLine, parts: Mapping[int, str], on_page: frozenset[int]) -> bool:
    if on_page.issuperset(rows):
        return True
    texts = line.text.split("\n") if len(rows) > 1 else [line.text]
    return len(texts) == len(rows) and all(
        row in on_page or (row in parts and _words(text.removeprefix(f"{view.stored_name(row)}: ")) in _words(parts[row]))
        for row, text in zip(rows, texts, strict=True)
    )


def _words(text: str) -> str:
    return " ".join(text.casefold().split())


def _row(view: View, source: Source) -> int:
    """The row of a source, -1 when this version of it is not current."""
    row = view.row_of(source[0])
    return row if row >= 0 and view.current[row] and view.breadcrumb(row).version == source[1] else -1


def _order(pair: LineWithRows) -> tuple[int, bool]:
    return pair[0][0], pair[1].verbatim
