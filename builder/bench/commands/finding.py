"""Benchmark commands about what is found, and about the data that it is found in: arguments in, one report out."""

import asyncio
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from builder.app.console import AsJson, say, settings, show
from builder.bench.commands.options import File, ProfileName, empty_store, folder, measure, numbers, progress, report

if TYPE_CHECKING:
    from collections.abc import Callable

    from builder.app.components import Components
    from builder.bench.data.datasets import Dataset
    from builder.bench.quality.examples import Example


def recall(
    file: File = "sample",
    budgets: Annotated[str, typer.Option(help="Token budgets, comma-separated.")] = "500,1000,2000,4000",
    profile: ProfileName = "recall",
    scope: Annotated[
        Literal["session", "user", "workspace", "elsewhere"],
        typer.Option(
            help="What is searched: the conversation; user = the conversation cut by episode into sessions of one person, who "
            "asks in a new one; workspace = all conversations pooled; elsewhere = the same, asked in a new session."
        ),
    ] = "session",
    fit_on: Annotated[
        str, typer.Option(help="Data sets to learn the weights from, leaving out the conversation under test; comma-separated.")
    ] = "",
    *,
    two_stages: Annotated[bool, typer.Option("--two-stages", help="Read a workspace as one of more than 20,000 rows.")] = False,
    ablate: Annotated[bool, typer.Option("--ablate", help="What each signal adds; learns on --fit-on, or on FILE.")] = False,
    as_json: AsJson = False,
) -> None:
    """Share of the evidence that stands on the page within a token budget."""
    if ablate:
        _ablate(file, numbers(budgets), profile, fit_on or file, as_json)
        return
    from builder.bench.data.datasets import load, of_one_person, pooled
    from builder.bench.quality import recall as bench
    from builder.bench.quality.fit import leave_one_out
    from builder.bench.summaries import summarise
    from builder.recall.workspaces import MAX_ROWS

    forms: dict[str, Callable[[Dataset], Dataset]] = {
        "session": lambda dataset: dataset,
        "user": of_one_person,
        "workspace": pooled,
        "elsewhere": partial(pooled, asking="asking"),
    }
    dataset = forms[scope](load(file))

    async def run(core: "Components", step: "Callable[[], None]") -> dict[str, Any]:
        core.builder.recaller.workspaces.max_rows = 0 if two_stages else MAX_ROWS
        rankers = leave_one_out(await _examples(core, fit_on), (dataset,)) if fit_on else {}
        wide = core.profile(profile)
        wide = replace(wide, retrieval=replace(wide.retrieval, scope="workspace" if scope == "elsewhere" else scope))
        finish = partial(summarise, core, (wide,))
        figures = await bench.run(core.builder, dataset, wide, numbers(budgets), step, rankers, finish)
        return {name: figures.pop(name) for name in ("dataset", "questions")} | {"model": core.embedder.model} | figures

    figures = measure("recall", dataset.messages + dataset.question_count, run)
    title = f"{figures['dataset']}, {figures['questions']} questions, {figures['model']}"
    report(figures, as_json, (title, "budget", figures["budgets"]))


def search(
    files: Annotated[list[str], typer.Argument(help='Data sets, "facts", "answers" or "answers-held-out".')],
    scope: Annotated[
        Literal["session", "user", "workspace"],
        typer.Option(help="What is searched; conversations are cut or pooled as by recall."),
    ] = "session",
    fit_on: Annotated[
        str, typer.Option(help="Data sets to learn the weights from, leaving out the conversation under test; comma-separated.")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """First right results beside plain cosine and BM25, and whether the probabilities are true."""
    from builder.bench.data import answer_sessions, facts
    from builder.bench.data.datasets import load, of_one_person, pooled
    from builder.bench.quality import search as bench
    from builder.bench.quality.fit import leave_one_out

    own: dict[str, Callable[[], tuple[Dataset, ...]]] = {
        "facts": facts.load,
        "answers": lambda: (answer_sessions.labelled(held_out=False),),
        "answers-held-out": lambda: (answer_sessions.labelled(held_out=True),),
    }
    forms: dict[str, Callable[[Dataset], Dataset]] = {
        "session": lambda dataset: dataset,
        "user": of_one_person,
        "workspace": pooled,
    }
    datasets = [forms[scope](each) for file in files for each in own.get(file, lambda file=file: (load(file),))()]

    async def run(core: "Components", step: "Callable[[], None]") -> dict[str, Any]:
        rankers = leave_one_out(await _examples(core, fit_on), datasets) if fit_on else {}
        profile = core.profile("default")
        wide = replace(profile, retrieval=replace(profile.retrieval, scope=scope))
        return {"scope": scope, "model": core.embedder.model} | await bench.run(core.builder, datasets, wide, step, rankers)

    figures = measure("search", sum(each.messages + each.question_count for each in datasets), run)
    first = figures["first_results"]
    report(
        figures,
        as_json,
        (f"scope {scope}, {figures['model']}", "ranking", figures["rankings"]),
        ("Does anything answer", "data set", figures["answered"]),
        (f"First results of {first['searches']}, calibration error {first['calibration_error']}", "bin", first["bins"]),
        ("All passages", "probability", figures["passages"]),
    )


def workspaces(
    file: File = "sample",
    others: Annotated[str, typer.Option(help="Data set of which messages of other people are made.")] = "sample",
    messages: Annotated[str, typer.Option(help="Messages stored, comma-separated, rising.")] = "20000,100000",
    questions: Annotated[int, typer.Option(min=2, help="Questions asked at each size.")] = 100,
    budget: Annotated[int, typer.Option(min=100, help="Tokens of a page.")] = 2000,
    profile: ProfileName = "default",
    *,
    as_json: AsJson = False,
) -> None:
    """Evidence found in one large workspace; also of an empty PostgreSQL that CONTEXT_BUILDER_STORE__URL names."""
    from builder.app.components import open_components
    from builder.bench.data.datasets import load, pooled
    from builder.bench.quality import workspaces as bench

    dataset, sizes = pooled(load(file), asking="asking"), numbers(messages)

    async def work() -> dict[str, Any]:
        with folder() as path, progress("workspaces", max(sizes)) as step:
            async with open_components(settings(), await empty_store(path)) as core:
                page = core.profile(profile)
                page = replace(page, budget=budget, retrieval=replace(page.retrieval, scope="workspace"))
                return await bench.run(core, dataset, load(others), page, sizes, questions, step)

    figures = asyncio.run(work())
    title = f"{figures['dataset']}, {figures['questions']} questions, {figures['model']}"
    report(figures, as_json, (title, "messages", figures["sizes"]))


def fit(
    files: Annotated[list[str], typer.Argument(help="Data sets to learn from.")],
    write: Annotated[Path | None, typer.Option(help="Write the weights to this file.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Learn the weights from labelled conversations, and from the sessions of `bench answers` that are not held out."""
    from dataclasses import asdict
    from datetime import UTC, datetime

    from builder.bench.quality.fit import fit as learn
    from builder.bench.quality.fit import to_toml

    examples: list[Example] = []

    async def run(core: "Components", step: "Callable[[], None]") -> dict[str, Any]:
        examples.extend(await _examples(core, ",".join(files), step))
        return {}

    measure("fit", 0, run)
    names = dict.fromkeys(example.dataset for example in examples)
    questions = [example.dataset for example in examples if example.gold and not example.piece]
    counts = {name: questions.count(name) for name in names}
    ranker = learn(examples)
    data = ", ".join(f"{name}: {count} questions" for name, count in counts.items())
    text = to_toml(ranker, datetime.now(UTC).date().isoformat(), data)
    if write:
        write.write_text(text, "utf-8")
    show(asdict(ranker), as_json, text=text)


def convert(
    source: Annotated[Literal["locomo", "beam", "longmemeval"], typer.Argument(help="Whose file it is.")],
    file: Annotated[
        Path,
        typer.Argument(
            help="LoCoMo: locomo10.json. BEAM: a folder of chats, a chat, or a file of rows. LongMemEval: longmemeval_s.json."
        ),
    ],
    conversations: Annotated[
        str,
        typer.Option(
            help="Only these, comma-separated: of LoCoMo by position from 0, of BEAM by the chat's number, of LongMemEval by the "
            "question's position from 0."
        ),
    ] = "",
    write: Annotated[Path | None, typer.Option(help="Write the data set to this file; default is standard output.")] = None,
) -> None:
    """Make a data set of a public file; what is not in it is counted on standard error."""
    from builder.bench.data import beam, locomo, longmemeval

    converters = {"locomo": locomo.convert, "beam": beam.convert, "longmemeval": longmemeval.convert}
    conversion = converters[source](file, _positions(conversations))
    text = json.dumps(conversion.data, ensure_ascii=False, indent=1) + "\n"
    if write:
        write.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    account = conversion.account
    say(f"{account['name']}: " + ", ".join(f"{name} {account[name]:,}" for name in ("conversations", "messages", "questions")))
    for reason, count in account["omissions"].items():
        say(f"left out: {reason}: {count:,}")


def vectors(
    file: File = "sample",
    budgets: Annotated[str, typer.Option(help="Token budgets, comma-separated.")] = "500,1000,2000,4000",
    *,
    as_json: AsJson = False,
) -> None:
    """Evidence that plain vector search over single messages finds: what a vector store alone gives."""
    from builder.bench.data.datasets import load
    from builder.bench.quality import vectors as bench

    dataset, sizes = load(file), numbers(budgets)
    steps = dataset.messages + dataset.question_count
    figures = measure("vectors", steps, lambda core, step: bench.run(core, dataset, sizes, step))
    title = f"{figures['dataset']}, {figures['questions']} questions, {figures['model']}"
    report(figures, as_json, (title, "budget", figures["budgets"]))


def _ablate(file: str, budgets: tuple[int, ...], profile: str, fit_on: str, as_json: bool) -> None:
    from builder.bench.data.datasets import load
    from builder.bench.quality.fit import RUNS, ablation

    dataset = load(file)

    async def run(core: "Components", step: "Callable[[], None]") -> dict[str, Any]:
        data = await _examples(core, fit_on)
        return await ablation(core.builder, dataset, core.profile(profile), budgets, data, step)

    figures = measure("ablate", RUNS * (dataset.messages + dataset.question_count), run)
    rows = {"(all signals)": figures["everything"]} | figures["gains"]
    texts = {
        name: {budget: " ".join(f"{share:.3f}" for share in shares.values()) for budget, shares in row.items()}
        for name, row in rows.items()
    }
    title = f"{figures['dataset']}, {figures['questions']} questions: any / all / mean, and what each signal adds"
    report(figures, as_json, (title, "signal", texts))


async def _examples(core: "Components", files: str, step: "Callable[[], None]" = lambda: None) -> "tuple[Example, ...]":
    from builder.bench.data.answer_sessions import labelled
    from builder.bench.data.datasets import load
    from builder.bench.quality.examples import examples

    datasets = [*(load(file.strip()) for file in files.split(",")), labelled(held_out=False)]
    return await examples(core.builder, datasets, core.profile("recall"), step)


def _positions(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no list of whole numbers like 0,1,2") from error


def plot(
    file: Annotated[Path, typer.Argument(help="Measured figures, TOML; builder/docs/pictures/recall.toml shows the form.")],
    svg: Annotated[Path, typer.Option(help="The picture is written here.")],
) -> None:
    """Draw recall against tokens, ours and others', from measured figures."""
    from builder.bench.plot import plot_svg, read_figures
    from builder.extras.explain.svg import write_picture

    write_picture(svg, plot_svg(read_figures(file)))
    say(f"drawn into {svg}")
