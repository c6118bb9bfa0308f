"""What the benchmark commands share: arguments, a store and a broker of their own, progress, tables."""

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.cli.options import settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from builder.app import Components
    from builder.app.settings import Settings
    from builder.ports.store import StoreLocation

File = Annotated[str, typer.Argument(help='A data set (format in builder/README.md), or "sample" for the bundled one.')]
ProfileName = Annotated[str, typer.Option("--profile", help="Profile of the page.")]


def numbers(text: str) -> tuple[int, ...]:
    """Positive whole numbers, comma-separated. Raises `typer.BadParameter`."""
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no list of whole numbers like 500,1000") from error
    if min(found) < 1:
        raise typer.BadParameter(f"{text!r} holds a number below 1")
    return found


@contextmanager
def store() -> "Iterator[StoreLocation]":
    """A real file, gone afterwards."""
    from builder.app import location

    with tempfile.TemporaryDirectory(prefix="context-builder-bench-") as folder:
        yield location(f"sqlite:{folder}/store.sqlite3")


def apart(mine: "Settings", folder: Path, cached_passages: int = 0) -> "Settings":
    """The settings with a broker, a store and a port of their own. cached_passages: at least so many."""
    from builder.app.settings import Http, Nats, Store

    store = Store(url=f"sqlite:{folder}/store.sqlite3", cached_passages=max(cached_passages, mine.store.cached_passages))
    return mine.model_copy(update={"data_dir": folder, "nats": Nats(port=-1), "store": store, "http": Http(port=0)})


@contextmanager
def progress(name: str, steps: int) -> "Iterator[Callable[[], None]]":
    """A bar on standard error; call what it gives once a step."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=steps)
        yield lambda: progress.advance(task)


def measured(
    name: str, steps: int, measure: "Callable[[Components, Callable[[], None]], Awaitable[dict[str, Any]]]"
) -> dict[str, Any]:
    """The report of a measurement on a core with a store of its own. measure: is given the core and the bar's step."""
    from builder.app import open_components

    async def work() -> dict[str, Any]:
        with store() as path, progress(name, steps) as step:
            async with open_components(settings(), path) as core:
                return await measure(core, step)

    return asyncio.run(work())


def table(title: str, first: str, rows: dict[str, dict[str, Any]]) -> None:
    """Rows by their first column, on standard output."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column(first)
    names = list(next(iter(rows.values())))
    for name in names:
        table.add_column(name, justify="right")
    for key, values in rows.items():
        table.add_row(key, *(str(values[name]) for name in names))
    Console(file=sys.stdout).print(table)
