"""What the benchmark commands share: arguments, a store and a broker of their own, progress, reports."""

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.app.console import progress_bar, settings, show, table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from builder.app.components import Components
    from builder.app.service import Service
    from builder.app.settings import Settings
    from builder.ports.store import StoreLocation

    Step = Callable[[], None]

File = Annotated[str, typer.Argument(help='A data set (format in builder/docs/benchmarks.md), or "sample" for the bundled one.')]
ProfileName = Annotated[str, typer.Option("--profile", help="Profile of the page.")]
Rows = dict[str, dict[str, Any]]


def numbers(text: str) -> tuple[int, ...]:
    """Positive whole numbers, comma-separated. Raises `typer.BadParameter`."""
    try:
        values = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no list of whole numbers like 500,1000") from error
    if min(values) < 1:
        raise typer.BadParameter(f"{text!r} holds a number below 1")
    return values


@contextmanager
def progress(name: str, steps: int) -> "Iterator[Step]":
    """The function that advances a bar on standard error. steps: 0 = nobody knows how many."""
    with progress_bar(name) as move:
        done = count(1)
        yield lambda: move(next(done), steps)


def measure(name: str, steps: int, run: "Callable[[Components, Step], Awaitable[dict[str, Any]]]") -> dict[str, Any]:
    """The report of a measurement on components with a store of their own."""
    from builder.app.broker import location
    from builder.app.components import open_components

    async def work() -> dict[str, Any]:
        with folder() as path, progress(name, steps) as step:
            async with open_components(settings(), location(f"sqlite:{path}/store.sqlite3")) as core:
                return await run(core, step)

    return asyncio.run(work())


def measure_service(
    name: str,
    steps: int,
    open_engine: "Callable[[Settings], Awaitable[Any]]",
    run: "Callable[[Service, Any, Step, int], Awaitable[dict[str, Any]]]",
    cached_passages: int = 0,
) -> dict[str, Any]:
    """The report of a measurement on a whole service with a broker of its own, beside a bare engine.

    run: also gets the HTTP port. cached_passages: size of its cache, at least.
    """
    from builder.app.logs import set_up_logging
    from builder.app.service import open_service, serving
    from builder.app.settings import HttpSettings, NatsSettings, StoreSettings
    from builder.connection.names import DEFAULT_NAME

    async def work() -> dict[str, Any]:
        base = settings()
        with folder() as path:
            await empty_store(path)
            store = StoreSettings(url=_store_url(path), cached_passages=max(cached_passages, base.store.cached_passages))
            parts = {
                "name": DEFAULT_NAME,
                "data_dir": path,
                "nats": NatsSettings(port=-1),
                "store": store,
                "http": HttpSettings(port=0),
            }
            own = base.model_copy(update=parts)
            engine = await open_engine(own)
            try:
                with progress(name, steps) as step:
                    async with open_service(own) as service, serving(service) as port:
                        await service.core.embedder.ready()
                        return await run(service, engine, step, port)
            finally:
                await engine.aclose()

    set_up_logging("WARNING", "text")
    return asyncio.run(work())


async def empty_store(path: Path) -> "StoreLocation":
    """The PostgreSQL of the settings, or a file in the folder. Raises `Misconfigured` if a store is there."""
    from builder.app.broker import location
    from builder.domain.errors import Misconfigured

    store = location(_store_url(path))
    if await store.exists():
        raise Misconfigured(f"{store.name} has a store; measure in an empty database")
    return store


def _store_url(path: Path) -> str:
    url = settings().store.url
    return url if url.startswith("postgresql:") else f"sqlite:{path}/store.sqlite3"


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="context-builder-bench-") as path:
        yield Path(path)


def report(figures: dict[str, Any], as_json: bool, *tables: tuple[str, str, Rows]) -> None:
    """Print the figures as JSON, or tables for people: title, first column, rows."""
    if as_json:
        show(figures, as_json)
        return
    for title, first, rows in tables:
        names = tuple(next(iter(rows.values())))
        lines = [(key, *(str(values[name]) for name in names)) for key, values in rows.items()]
        sys.stdout.write(f"{title}\n{table((first, *names), lines, frozenset(names))}\n")
