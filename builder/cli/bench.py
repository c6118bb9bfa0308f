"""The benchmark commands: arguments in, one report out."""

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.cli.options import AsJson, print_json, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from builder.app import Core
    from builder.bench.fit import Example
    from builder.settings import Settings

File = Annotated[str, typer.Argument(help='A data set (format in builder/README.md), or "sample" for the bundled one.')]
ProfileName = Annotated[str, typer.Option("--profile", help="Profile of the page.")]


class Scope(StrEnum):
    """Where `bench recall` looks."""

    session = "session"
    workspace = "workspace"


def recall(
    file: File = "sample",
    budgets: Annotated[str, typer.Option(help="Token budgets, comma-separated.")] = "500,1000,2000,4000",
    profile: ProfileName = "recall",
    scope: Annotated[
        Scope, typer.Option(help="Look in the conversation, or in all of them pooled into one workspace.")
    ] = Scope.session,
    fit_on: Annotated[
        str, typer.Option(help="Data sets to learn the weights from, leaving out the conversation under test; comma-separated.")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Share of the evidence that stands on the page within a token budget."""
    from builder.app import open_core
    from builder.bench import recall as bench
    from builder.bench.datasets import load, pooled
    from builder.bench.fit import leave_one_out

    async def work() -> dict[str, Any]:
        dataset = pooled(load(file)) if scope is Scope.workspace else load(file)
        steps = sum(len(part.breadcrumbs) + len(part.questions) for part in dataset.conversations)
        with _store() as store, _progress("recall", steps) as step:
            async with open_core(settings(), store) as core:
                rankers = leave_one_out(await _examples(core, fit_on)) if fit_on else {}
                asking = core.profile(profile)
                asking = replace(asking, retrieval=replace(asking.retrieval, scope=scope.value))
                report = await bench.run(core.builder, dataset, asking, _numbers(budgets), step, rankers)
                return {
                    "dataset": report.pop("dataset"),
                    "questions": report.pop("questions"),
                    "model": core.embedder.model,
                    **report,
                }

    report = asyncio.run(work())
    if as_json:
        print_json(report)
    else:
        _table(f"{report['dataset']}, {report['questions']} questions, {report['model']}", "budget", report["budgets"])


def fit(
    files: Annotated[list[str], typer.Argument(help="Data sets to learn from.")],
    write: Annotated[Path | None, typer.Option(help="Write the weights to this file.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Learn the weights of the fusion from labelled conversations."""
    from dataclasses import asdict
    from datetime import UTC, datetime

    from builder.app import open_core
    from builder.bench.fit import fit as learn
    from builder.bench.fit import to_toml

    async def work() -> tuple[Any, str]:
        with _store() as store:
            async with open_core(settings(), store) as core:
                found = await _examples(core, ",".join(files))
        counts = ", ".join(
            f"{name}: {sum(item.dataset == name for item in found)} questions" for name in {i.dataset: 0 for i in found}
        )
        return learn(found), counts

    ranker, counts = asyncio.run(work())
    text = to_toml(ranker, datetime.now(UTC).date().isoformat(), counts)
    if write:
        write.write_text(text, "utf-8")
    if as_json:
        print_json(asdict(ranker))
    else:
        sys.stdout.write(text)


async def _examples(core: "Core", files: str) -> "tuple[Example, ...]":
    from builder.bench.datasets import load
    from builder.bench.fit import examples

    found: list[Example] = []
    for file in files.split(","):
        found += await examples(core.builder, load(file.strip()), core.profile("recall"), lambda: None)
    return tuple(found)


def latency(
    messages: Annotated[str, typer.Option(help="Messages stored in the session, comma-separated.")] = "600,5000,20000",
    rounds: Annotated[int, typer.Option(min=5, help="Measurements of each kind and size.")] = 60,
    *,
    as_json: AsJson = False,
) -> None:
    """A whole context beside the bare embedding call, interleaved in one run over a real nats-server."""
    from builder.app import open_reference, open_service, serving
    from builder.bench import latency as bench
    from builder.telemetry import set_up_logging

    async def work() -> dict[str, Any]:
        sizes = _numbers(messages)
        with tempfile.TemporaryDirectory(prefix="context-builder-bench-") as folder:
            mine = _apart(settings(), Path(folder))
            reference = await open_reference(mine)
            try:
                with _progress("latency", bench.DISTINCT + 2 * len(sizes) + rounds + bench.WARM_UPS) as step:
                    async with open_service(mine) as service, serving(service):
                        await service.core.embedder.ready()
                        return await bench.run(service, reference, sizes, rounds, step)
            finally:
                await reference.aclose()

    set_up_logging("WARNING", "text")
    report = asyncio.run(work())
    if as_json:
        print_json(report)
    else:
        _table(f"medians of {report['rounds']} rounds", "messages", report["sizes"])


def tokens(file: File = "sample", profile: ProfileName = "default", *, as_json: AsJson = False) -> None:
    """True tokens of the context beside what agents send without it."""
    from builder.app import open_core
    from builder.bench import tokens as bench
    from builder.bench.datasets import load

    async def work() -> dict[str, Any]:
        with _store() as store:
            async with open_core(settings(), store) as core:
                return await bench.run(core, load(file), core.profile(profile))

    report = asyncio.run(work())
    if as_json:
        print_json(report)
        return
    rows = {"the context": {"mean": report["context"]["mean"], "saved": ""}, **report["baselines"]}
    _table(f"{report['dataset']}, profile {report['profile']}, {report['questions']} questions", "tokens", rows)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no list of whole numbers like 500,1000") from error
    if min(numbers) < 1:
        raise typer.BadParameter(f"{text!r} holds a number below 1")
    return numbers


@contextmanager
def _store() -> Iterator[str]:
    """A real file, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="context-builder-bench-") as folder:
        yield str(Path(folder) / "store.sqlite3")


def _apart(mine: "Settings", folder: Path) -> "Settings":
    """The settings with a broker, a store and a port of their own."""
    from builder.settings import Http, Nats, Store

    own = {"data_dir": folder, "nats": Nats(port=-1), "store": Store(path=folder / "store.sqlite3"), "http": Http(port=0)}
    return mine.model_copy(update=own)


@contextmanager
def _progress(name: str, steps: int) -> "Iterator[Callable[[], None]]":
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=steps)
        yield lambda: progress.advance(task)


def _table(title: str, first: str, rows: dict[str, dict[str, Any]]) -> None:
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
