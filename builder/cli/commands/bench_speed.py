"""Benchmarks of the service under load: arguments in, one report out."""

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from builder.cli.bench_options import apart, progress, store, table
from builder.cli.options import AsJson, print_json, settings


def load(
    seconds: Annotated[float, typer.Option(min=1, help="Length of the run, at least.")] = 30,
    sessions: Annotated[int, typer.Option(min=1, help="Sessions that talk at once.")] = 50,
    *,
    as_json: AsJson = False,
) -> None:
    """Messages and contexts a second over a real nats-server, beside the bare encoder in the same run."""
    from builder.app import open_encoder, open_service, serving
    from builder.app.telemetry import set_up_logging
    from builder.bench.speed import load as bench

    async def work() -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="context-builder-bench-") as folder:
            mine = apart(settings(), Path(folder))
            encoder = await open_encoder(mine)
            try:
                with progress("load", int(seconds // bench.SLICE_SECONDS) + 1) as step:
                    async with open_service(mine) as service, serving(service):
                        return await bench.run(service, encoder, seconds, sessions, step)
            finally:
                await encoder.aclose()

    set_up_logging("WARNING", "text")
    _show(asyncio.run(work()), as_json, "load")


def memory(
    stored: Annotated[int, typer.Option(min=1, help="Messages in the store.")] = 1_000_000,
    sessions: Annotated[int, typer.Option(min=1, help="Sessions that they are spread over.")] = 50,
    *,
    as_json: AsJson = False,
) -> None:
    """Memory of the worker when its store is large and every session asks."""
    from builder.app import open_components
    from builder.bench.speed import memory as bench

    async def work() -> dict[str, Any]:
        with store() as path, progress("memory", stored + sessions) as step:
            async with open_components(settings(), path) as core:
                await bench.fill(core, stored, sessions, step)
            async with open_components(settings(), path) as core:
                return await bench.ask(core, stored, sessions, step)

    _show(asyncio.run(work()), as_json, "memory")


def _show(report: dict[str, Any], as_json: bool, title: str) -> None:
    if as_json:
        print_json(report)
    else:
        table(title, "measure", {name: {"value": value} for name, value in report.items()})
