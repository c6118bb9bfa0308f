"""Settings and printer of all commands: data to standard output, the rest to standard error."""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from textwrap import wrap
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.app import is_collected
from builder.domain.errors import Misconfigured

if TYPE_CHECKING:
    from rich.progress import TaskID

    from builder.app.settings import Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Advance = Callable[[int, int], None]
"""(done, total); total 0 = unknown."""
LINE_SECONDS = 10.0
"""Between two lines of progress without a terminal."""
NONE: frozenset[str] = frozenset()
GAP = 3
EDGES = 4
MIN_CUT = 18
Row = tuple[str, ...]


def table(
    columns: Row, rows: Iterable[Row], numbers: frozenset[str] = NONE, cut: frozenset[str] = NONE, *, ruled: bool = False
) -> str:
    """A table within the terminal's width, else turned, or a paragraph per row.

    numbers: right-aligned. cut: columns that may end in "…". ruled: lines between columns.
    """
    from rich.box import HEAVY_HEAD, SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

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
    """Whether the terminal is wide enough for it, ruled."""
    from rich.console import Console

    return _total(_least(columns, rows, NONE, NONE)) + EDGES <= Console().width


def _narrow(columns: Row, rows: list[Row], numbers: frozenset[str], whole: int) -> str:
    names, *lines = zip(columns, *rows, strict=True)
    if numbers.issuperset(columns[1:]) and _total(_least(names, lines, frozenset(names), NONE)) <= whole:
        return table(names, lines, frozenset(names[1:]))
    return "".join(_paragraph(columns, row, whole) for row in rows)


def _least(columns: Row, rows: Sequence[Row], numbers: frozenset[str], cut: frozenset[str]) -> list[int]:
    from rich.cells import cell_len

    least = []
    for name, *cells in zip(columns, *rows, strict=True):
        words = cells if name in numbers or name in cut else [word for cell in cells for word in cell.split()]
        longest = max(map(cell_len, words), default=0)
        least.append(max(cell_len(name), min(longest, MIN_CUT) if name in cut else longest))
    return least


def _total(widths: list[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _room(columns: Row, rows: list[Row], least: list[int], cut: frozenset[str], whole: int) -> list[int]:
    from rich.cells import cell_len

    more = [max(map(cell_len, cells)) - have for cells, have in zip(zip(columns, *rows, strict=True), least, strict=True)]
    room, rest = least[:], whole - _total(least)
    for number in sorted(range(len(columns)), key=lambda number: (columns[number] in cut, more[number])):
        room[number] += min(more[number], rest)
        rest -= min(more[number], rest)
    return room


def _paragraph(columns: Row, row: Row, whole: int) -> str:
    # `textwrap` breaks no line at a hard space.
    names = (f"{name}: ".replace(" ", "\xa0") if name else "" for name in columns)
    text = "   ".join(name + cell for name, cell in zip(names, row, strict=True) if cell)
    lines = wrap(text, whole, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "".join(f"{line}\n" for line in lines).replace("\xa0", " ")


def settings() -> "Settings":
    """From the environment. Raises `Misconfigured` with the variable."""
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
        raise Misconfigured(f"{variable}: {first['msg']}, got {first['input']!r:.80}; fix or unset it") from error


def show(value: Any, as_json: bool, text: str = "", note: str = "") -> None:
    """As JSON, or the text. note: for standard error."""
    if as_json:
        json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
        sys.stdout.write("\n")
        return
    sys.stdout.write(text)
    if note:
        say(note)


def say(text: str) -> None:
    """On standard error; standard output stays data."""
    if is_collected():
        logging.getLogger("builder").info("%s", text)
    else:
        sys.stderr.write(text + "\n")


@contextmanager
def progress_bars(*names: str, every: float = LINE_SECONDS) -> Iterator[tuple[Advance, ...]]:
    """Functions that move a bar per name, or print lines without a terminal. every: seconds."""
    from rich.console import Console
    from rich.progress import Progress

    console, written = Console(stderr=True), monotonic()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:

        def move(task: "TaskID", done: int, total: int) -> None:
            nonlocal written
            progress.update(task, completed=done, total=total or None)
            if progress.disable and monotonic() - written >= every:
                say(f"{progress.tasks[task].description}: {done:,}" + (f" of {total:,}" if total else ""))
                written = monotonic()

        yield tuple(partial(move, progress.add_task(name, total=None)) for name in names)


@contextmanager
def progress_bar(name: str, every: float = LINE_SECONDS) -> Iterator[Advance]:
    """The function that moves the bar."""
    with progress_bars(name, every=every) as (advance,):
        yield advance
