"""Tables for people. Ids, numbers and headings are never broken, however narrow the terminal is."""

from collections.abc import Iterable, Sequence
from textwrap import wrap

from rich.box import HEAVY_HEAD, SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

NONE: frozenset[str] = frozenset()
GAP = 3
"""Characters between two columns."""
EDGES = 4
"""Characters beside the columns where there are lines between them."""
MIN_CUT = 18
"""Characters of a column that is cut, however narrow the terminal is."""
Row = tuple[str, ...]


def table(
    columns: Row, rows: Iterable[Row], numbers: frozenset[str] = NONE, cut: frozenset[str] = NONE, *, ruled: bool = False
) -> str:
    """The table as text, at most as wide as the terminal; where that is too narrow, turned by its side, or a paragraph a row.

    numbers: columns that are set to the right and stay on one line. cut: columns whose cells stay on one line and end in "…"
    where they do not fit; all other cells go on in a further line between two words. ruled: lines between the columns.
    """
    console, cells = Console(), list(rows)
    least = _least(columns, cells, numbers, cut)
    whole = console.width - (EDGES if ruled else 0)
    if _total(least) > whole:
        return _narrow(columns, cells, numbers, console.width)
    room = _room(columns, cells, least, cut, whole)
    grid = Table(box=HEAVY_HEAD if ruled else SIMPLE_HEAD, show_edge=ruled, pad_edge=ruled)
    for number, name in enumerate(columns):
        grid.add_column(
            name,
            justify="right" if name in numbers else "left",
            overflow="ellipsis" if name in cut else "fold",
            no_wrap=name in cut or name in numbers,
            width=room[number],
        )
    for row in cells:
        grid.add_row(*map(Text, row))
    with console.capture() as capture:
        console.print(grid)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().removesuffix("\n").split("\n"))


def fits(columns: Row, rows: Sequence[Row]) -> bool:
    """Whether the terminal is wide enough for a ruled table."""
    return _total(_least(columns, rows, NONE, NONE)) + EDGES <= Console().width


def _narrow(columns: Row, rows: list[Row], numbers: frozenset[str], whole: int) -> str:
    """A table of numbers turned by its side where that has room, else a paragraph a row."""
    names, *lines = zip(columns, *rows, strict=True)
    if numbers.issuperset(columns[1:]) and _total(_least(names, lines, frozenset(names), NONE)) <= whole:
        return table(names, lines, frozenset(names[1:]))
    return "".join(_paragraph(columns, row, whole) for row in rows)


def _least(columns: Row, rows: Sequence[Row], numbers: frozenset[str], cut: frozenset[str]) -> list[int]:
    """Characters that each column needs at least: its heading, its longest number, id or word, the beginning of what is cut."""
    least = []
    for name, *cells in zip(columns, *rows, strict=True):
        words = cells if name in numbers or name in cut else [word for cell in cells for word in cell.split()]
        longest = max(map(cell_len, words), default=0)
        least.append(max(cell_len(name), min(longest, MIN_CUT) if name in cut else longest))
    return least


def _total(widths: list[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _room(columns: Row, rows: list[Row], least: list[int], cut: frozenset[str], whole: int) -> list[int]:
    """The width of each column: what is cut gets more than the least last, what needs little more gets it first."""
    more = [max(map(cell_len, cells)) - have for cells, have in zip(zip(columns, *rows, strict=True), least, strict=True)]
    room, rest = least[:], whole - _total(least)
    for number in sorted(range(len(columns)), key=lambda number: (columns[number] in cut, more[number])):
        room[number] += min(more[number], rest)
        rest -= min(more[number], rest)
    return room


def _paragraph(columns: Row, row: Row, whole: int) -> str:
    """The cells of a row, each after its heading; what is empty is left out."""
    # `textwrap` breaks no line at a hard space.
    names = (f"{name}: ".replace(" ", "\xa0") if name else "" for name in columns)
    text = "   ".join(name + cell for name, cell in zip(names, row, strict=True) if cell)
    lines = wrap(text, whole, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "".join(f"{line}\n" for line in lines).replace("\xa0", " ")
