"""Tables for people."""

from collections.abc import Iterable

NONE: frozenset[str] = frozenset()
GAP = 3
"""Characters between two columns."""
MIN_CUT = 18
"""Characters of a column that is cut, however narrow the terminal is."""


def width() -> int:
    """Of the terminal, in characters."""
    from rich.console import Console

    return Console().width


def table(
    columns: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    numbers: frozenset[str] = NONE,
    cut: frozenset[str] = NONE,
    *,
    ruled: bool = False,
) -> str:
    """The table as text, at most as wide as the terminal.

    numbers: columns that are set to the right and stay on one line. cut: columns whose cells stay on one line and end in "…"
    where they do not fit; all other cells go on in a further line, so ids stay whole. ruled: lines between the columns.
    """
    from rich.box import HEAVY_HEAD, SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, cells = Console(), list(rows)
    room = _room(columns, cells, cut, console.width)
    grid = Table(box=HEAVY_HEAD if ruled else SIMPLE_HEAD, show_edge=ruled, pad_edge=ruled)
    for name in columns:
        grid.add_column(
            name,
            justify="right" if name in numbers else "left",
            overflow="ellipsis" if name in room else "fold",
            no_wrap=name in room or name in numbers,
            max_width=room.get(name),
        )
    for row in cells:
        grid.add_row(*map(Text, row))
    with console.capture() as capture:
        console.print(grid)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().removesuffix("\n").split("\n"))


def _room(columns: tuple[str, ...], rows: list[tuple[str, ...]], cut: frozenset[str], whole: int) -> dict[str, int]:
    """Column that is cut → its width: the other columns go first, and the cut ones share the rest."""
    needs = {cells[0]: max(map(len, cells)) for cells in zip(columns, *rows, strict=True)}
    rest = whole - sum(need for name, need in needs.items() if name not in cut) - GAP * (len(columns) - 1)
    room: dict[str, int] = {}
    names = [name for name in columns if name in cut]
    for name in names:
        share = max(rest, 0) // (len(names) - len(room))
        room[name] = max(MIN_CUT, min(needs[name], share))
        rest -= room[name]
    return room
