"""What every command shares: its settings, and one printer. Data goes to standard output, all else to standard error."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from textwrap import wrap
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import HEAVY_HEAD, SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table
from rich.text import Text

from builder.domain.errors import Misconfigured

if TYPE_CHECKING:
    from builder.app.settings import Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Advance = Callable[[int, int], None]
"""Called with how much is done, of how much; 0 = nobody knows of how much."""
LINE_SECONDS = 10.0
"""Between two lines of progress where standard error is no terminal."""
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


def settings() -> "Settings":
    """The settings from the environment. Raises `Misconfigured` with the name of the variable."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from builder.app.settings import PREFIX, Settings, check_names

    check_names(os.environ)
    try:
        return Settings()
    except SettingsError as error:
        raise Misconfigured(f"{PREFIX}…: {error}: {error.__cause__}; write JSON, or unset it") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        variable = PREFIX + "__".join(str(step).upper() for step in first["loc"])
        raise Misconfigured(f"{variable}: {first['msg']}, got {first['input']!r:.80}; mend or unset it") from error


def show(value: Any, as_json: bool, text: str = "", note: str = "") -> None:
    """Print the value as JSON, or as text for people. note: a line for people on standard error."""
    if as_json:
        json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
        sys.stdout.write("\n")
        return
    sys.stdout.write(text)
    if note:
        say(note)


def say(text: str) -> None:
    """A line for people on standard error, so that standard output stays data."""
    sys.stderr.write(text + "\n")


@contextmanager
def progress_bars(*names: str, every: float = LINE_SECONDS) -> Iterator[tuple[Advance, ...]]:
    """The functions that move a bar for each name on standard error, or write lines where that is no terminal.

    every: seconds between two lines.
    """
    console, written = Console(stderr=True), monotonic()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:

        def move(task: TaskID, done: int, total: int) -> None:
            nonlocal written
            progress.update(task, completed=done, total=total or None)
            if progress.disable and monotonic() - written >= every:
                say(f"{progress.tasks[task].description}: {done:,}" + (f" of {total:,}" if total else ""))
                written = monotonic()

        yield tuple(partial(move, progress.add_task(name, total=None)) for name in names)


@contextmanager
def progress_bar(name: str, every: float = LINE_SECONDS) -> Iterator[Advance]:
    """One bar while the block runs, and the function that moves it."""
    with progress_bars(name, every=every) as (advance,):
        yield advance
