"""The benchmark commands: arguments in, one report out."""

import asyncio
import sys
import tempfile
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.cli.bench_options import File, ProfileName, apart, measured, numbers, progress, store, table
from builder.cli.options import AsJson, print_json, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from builder.app import Components
    from builder.bench.quality.fit import Example


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
    ablate: Annotated[bool, typer.Option("--ablate", help="What each signal adds; learns on --fit-on, or on FILE.")] = False,
    as_json: AsJson = False,
) -> None:
    """Share of the evidence that stands on the page within a token budget."""
    if ablate:
        _ablate(file, numbers(budgets), profile, fit_on or file, as_json)
        return
    from functools import partial

    from builder.app import open_components, summarise
    from builder.bench.data.datasets import load, pooled
    from builder.bench.quality import recall as bench
    from builder.bench.quality.fit import leave_one_out

    async def work() -> dict[str, Any]:
        dataset = pooled(load(file)) if scope is Scope.workspace else load(file)
        steps = sum(len(part.breadcrumbs) + len(part.questions) for part in dataset.conversations)
        with store() as path, progress("recall", steps) as step:
            async with open_components(settings(), path) as core:
                rankers = leave_one_out(await _examples(core, fit_on)) if fit_on else {}
                asking = core.profile(profile)
                asking = replace(asking, retrieval=replace(asking.retrieval, scope=scope.value))
                heard = partial(summarise, core, (asking,))
                report = await bench.run(core.builder, dataset, asking, numbers(budgets), step, rankers, heard)
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
        table(f"{report['dataset']}, {report['questions']} questions, {report['model']}", "budget", report["budgets"])


def _ablate(file: str, budgets: tuple[int, ...], profile: str, fit_on: str, as_json: bool) -> None:
    from builder.bench.data.datasets import load
    from builder.bench.quality import ablate as bench

    dataset = load(file)

    async def measure(core: "Components", step: "Callable[[], None]") -> dict[str, Any]:
        data = await _examples(core, fit_on)
        return await bench.run(core.builder, dataset, core.profile(profile), budgets, data, step)

    steps = bench.RUNS * sum(len(part.breadcrumbs) + len(part.questions) for part in dataset.conversations)
    report = measured("ablate", steps, measure)
    if as_json:
        print_json(report)
        return
    rows = {"(all signals)": report["everything"]} | report["gains"]
    title = f"{report['dataset']}, {report['questions']} questions: any / all / mean, and what each signal adds"
    table(title, "signal", {name: {at: _shares(found) for at, found in row.items()} for name, row in rows.items()})


def _shares(found: dict[str, float]) -> str:
    return " ".join(f"{value:.3f}" for value in found.values())


def fit(
    files: Annotated[list[str], typer.Argument(help="Data sets to learn from.")],
    write: Annotated[Path | None, typer.Option(help="Write the weights to this file.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Learn the weights of the fusion from labelled conversations."""
    from dataclasses import asdict
    from datetime import UTC, datetime

    from builder.app import open_components
    from builder.bench.quality.fit import fit as learn
    from builder.bench.quality.fit import to_toml

    async def work() -> tuple[Any, str]:
        with store() as path:
            async with open_components(settings(), path) as core:
                found = await _examples(core, ",".join(files))
        counts = ", ".join(
            f"{name}: {sum(item.dataset == name and bool(item.gold) for item in found)} questions"
            for name in {i.dataset: 0 for i in found}
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


async def _examples(core: "Components", files: str) -> "tuple[Example, ...]":
    from builder.bench.data.datasets import load
    from builder.bench.quality.fit import examples

    datasets = [load(file.strip()) for file in files.split(",")]
    return await examples(core.builder, datasets, core.profile("recall"), lambda: None)


def latency(
    messages: Annotated[str, typer.Option(help="Messages stored in the session, comma-separated.")] = "600,5000,20000",
    rounds: Annotated[int, typer.Option(min=5, help="Measurements of each kind and size.")] = 60,
    *,
    as_json: AsJson = False,
) -> None:
    """A whole context beside the bare embedding call, interleaved in one run over a real nats-server."""
    from builder.app import open_reference, open_service, serving
    from builder.app.telemetry import set_up_logging
    from builder.bench.data.made import DISTINCT
    from builder.bench.speed import latency as bench

    async def work() -> dict[str, Any]:
        sizes = numbers(messages)
        with tempfile.TemporaryDirectory(prefix="context-builder-bench-") as folder:
            # Sessions in use are warm; how long a cold one takes to read is another question.
            mine = apart(settings(), Path(folder), cached_passages=4 * sum(sizes))
            reference = await open_reference(mine)
            try:
                with progress("latency", DISTINCT + 3 * len(sizes) + rounds + bench.WARM_UPS) as step:
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
        table(f"medians of {report['rounds']} rounds", "messages", report["sizes"])


def repeats(
    file: File = "sample",
    budget: Annotated[int, typer.Option(min=100, help="Token budget.")] = 1000,
    profile: ProfileName = "recall",
    *,
    as_json: AsJson = False,
) -> None:
    """Evidence found before and after ten near copies of a wrong message and 200 lines of small talk were planted."""
    from builder.bench.data.datasets import load
    from builder.bench.quality import repeats as bench

    dataset = load(file)
    steps = sum(len(part.breadcrumbs) + 2 * len(part.questions) for part in dataset.conversations)
    report = measured("repeats", steps, lambda core, step: bench.run(core, dataset, core.profile(profile), budget, step))
    if as_json:
        print_json(report)
    else:
        rows = {name: report[name] for name in ("clean", "planted", "difference")}
        table(f"{report['dataset']}, {report['questions']} questions, {budget} tokens", "conversation", rows)
