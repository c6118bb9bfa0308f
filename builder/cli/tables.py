"""Tables for people."""

from collections.abc import Iterable


def table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]], numbers: frozenset[str] = frozenset()) -> str:
    """The table as text, as wide as the terminal. numbers: columns that are set to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table()
    for name in columns:
        grid.add_column(name, justify="right" if name in numbers else "left")
    for row in rows:
        grid.add_row(*map(Text, row))
    console = Console()
    with console.capture() as capture:
        console.print(grid)
    return capture.get()
