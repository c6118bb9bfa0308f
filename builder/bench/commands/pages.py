"""Benchmark commands about pages: tokens saved, prompt cache, faithfulness, summaries, invariants."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.app.console import AsJson
from builder.bench.commands.options import File, ProfileName, measure, numbers, progress, report

if TYPE_CHECKING:
    from builder.app.components import Components
    from builder.bench.commands.options import Step
    from builder.domain.breadcrumb import Breadcrumb


def tokens(
    file: File = "sample",
    profile: ProfileName = "default",
    budgets: Annotated[str, typer.Option(help="Token budgets, comma-separated.")] = "100,125,150,175,200,300,500,1000,2000,4000",
    *,
    as_json: AsJson = False,
) -> None:
    """True tokens of the context and the evidence in it, beside what agents send without it."""
    from builder.bench.data.datasets import load
    from builder.bench.quality import tokens as bench

    dataset, sizes = load(file), numbers(budgets)
    steps = dataset.messages + len(sizes) * dataset.question_count
    figures = measure("tokens", steps, lambda core, step: bench.run(core, dataset, core.profile(profile), sizes, step))
    title = f"profile {figures['profile']}, {figures['questions']} questions"
    without = (f"{figures['dataset']}, what is sent without it", "baseline", figures["baselines"])
    report(figures, as_json, without, (title, "budget", figures["budgets"]))


def rcrt(
    file: File = "sample",
    profile: ProfileName = "default",
    sessions: Annotated[int, typer.Option(min=1, help="Sessions that are cut out of the data.")] = 20,
    size: Annotated[int, typer.Option(min=10, help="Messages of each.")] = 200,
    *,
    as_json: AsJson = False,
) -> None:
    """Tokens and evidence of pages beside what both builders of RCRT write for the same sessions (models of their source)."""
    from builder.bench.data.datasets import load
    from builder.bench.quality import rcrt as bench

    dataset = load(file)
    figures = measure(
        "rcrt", sessions * size, lambda core, step: bench.run(core, dataset, core.profile(profile), sessions, size, step)
    )
    title = f"{figures['dataset']}, {figures['sessions']} sessions, {figures['questions']} questions"
    report(figures, as_json, (title, "builder", figures["builders"]))


def prefix(
    file: File = "sample",
    profile: ProfileName = "default",
    turns: Annotated[int, typer.Option(min=2, help="Last user messages of each conversation that are replayed.")] = 60,
    *,
    as_json: AsJson = False,
) -> None:
    """Share of a page that the next one begins with, turn by turn, beside a naive order and `three_tier`."""
    from builder.bench.data.datasets import load
    from builder.bench.quality import prefix as bench

    dataset = load(file)
    steps = dataset.messages + dataset.question_count
    figures = measure("prefix", steps, lambda core, step: bench.run(core, dataset, bench.orders(core, profile), turns, step))
    report(figures, as_json, (f"{figures['dataset']}, last {turns} turns of each conversation", "order", figures["orders"]))


def answers(
    budgets: Annotated[str, typer.Option(help="Token budgets, comma-separated.")] = "1000,2000,4000",
    session: Annotated[str, typer.Option(help="One session alone, by its name.")] = "",
    profile: ProfileName = "default",
    pages: Annotated[Path | None, typer.Option(help="Write every page with its question and verdict into this folder.")] = None,
    *,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Show more than totals of the sessions that are set aside.")
    ] = False,
    observations: Annotated[
        bool, typer.Option("--observations", help="With the labelled observations, as if a language model had written them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Questions late in long sessions of real work: answered by the page, left open, or misled."""
    from builder.bench.data.answer_sessions import LabelledObservations, load
    from builder.bench.data.unanswerable import SMALL_TALK
    from builder.bench.quality import answers as bench
    from builder.bench.summaries import summarise

    sessions, sizes = load(session), numbers(budgets)

    if pages:
        pages.mkdir(parents=True, exist_ok=True)

    async def run(core: "Components", step: "Step") -> dict[str, Any]:
        asking = core.profile(profile)
        if observations and asking.summaries:
            asking = replace(asking, summaries=replace(asking.summaries, by="endpoint"))
        labels = {each.name: LabelledObservations(each) for each in sessions}

        async def finish(end: "Breadcrumb") -> None:
            await summarise(core, (asking,), end, labels[end.session])

        return await bench.run(core.builder, sessions, asking, sizes, step, finish, pages, set_aside=held_out)

    steps = sum(len(each.messages) + len(each.questions) + len(SMALL_TALK) for each in sessions)
    figures = measure("answers", steps, run)
    tables = [
        (f"{title}{part['questions']} questions, {name}".replace("_", " "), name.removeprefix("by_"), part[name])
        for title, part in (("", figures), ("set aside, ", figures["held_out"]))
        for name in ("budgets", "by_kind", "by_language", "by_session")
        if part.get(name)
    ]
    report(figures, as_json, *tables)


def pages(
    files: Annotated[list[str] | None, typer.Argument(help="Data sets that are told what asks for nothing old, too.")] = None,
    budgets: Annotated[str, typer.Option(help="Token budgets, comma-separated.")] = "1000,2000,4000,16000",
    session: Annotated[str, typer.Option(help="One session alone, by its name.")] = "",
    profile: ProfileName = "default",
    *,
    held_out: Annotated[bool, typer.Option("--held-out", help="The sessions that are set aside, and no others.")] = False,
    as_json: AsJson = False,
) -> None:
    """What a reader would skip of the pages of sessions of real work, and what stands on them whole, twice and for nothing."""
    from builder.bench.data import answer_sessions, work_sessions
    from builder.bench.data.datasets import load
    from builder.bench.quality import pages as bench
    from builder.bench.scratch import encoder

    every = (*work_sessions.load(), *answer_sessions.load())
    sessions = [each for each in every if (each.name == session if session else each.held_out == held_out)]
    if not sessions:
        raise typer.BadParameter(f"no session is named {session!r}; write one of {', '.join(each.name for each in every)}")
    idle = [conversation for file in files or () for conversation in load(file).conversations]

    async def run(core: "Components", step: "Step") -> dict[str, Any]:
        asking = core.profile(profile)
        encode = encoder(asking.encoding)
        measured = bench.Bench(builder=core.builder, profile=asking, count=lambda text: len(encode(text)))
        return await bench.run(measured, sessions, idle, numbers(budgets), step)

    figures = measure("pages", 0, run)
    titles = {"budgets": f"{figures['questions']} questions", "running": "an agent whose tool has just answered"}
    tables = [
        (titles.get(name, name.replace("_", " ")), name.removeprefix("by_"), rows)
        for name, rows in figures.items()
        if rows and name != "questions"
    ]
    report(figures, as_json, *tables)


def fidelity(file: File = "sample", profile: ProfileName = "default", *, as_json: AsJson = False) -> None:
    """Messages that a page holds whole and in order: of conversations that just fit, and of those that are too long."""
    from builder.bench.data.datasets import load
    from builder.bench.quality import fidelity as bench

    dataset = load(file)
    figures = measure("fidelity", dataset.messages, lambda core, step: bench.run(core, dataset, core.profile(profile), step))
    title = f"{figures['dataset']}, profile {figures['profile']}"
    report(figures, as_json, *((title, "", {name: figures[name]}) for name in ("fits", "pressure")))


def invariants(
    histories: Annotated[int, typer.Option(min=1, help="Random sessions.")] = 1000,
    contexts: Annotated[int, typer.Option(min=1, help="Pages, at least one a session.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The same number makes the same sessions.")] = 1,
    first: Annotated[int, typer.Option(min=0, help="Number of the first session, to repeat one.")] = 0,
    size: Annotated[int, typer.Option(min=4, max=60, help="Mean number of records of a session that is not long.")] = 12,
    *,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Plant small faults, and count the pages until each is found.")
    ] = False,
    max_pages: Annotated[int, typer.Option("--most", min=1, help="Pages in which a mutant must be found.")] = 2000,
    as_json: AsJson = False,
) -> None:
    """Random sessions under random profiles, each page checked by an independent reader; exit code 1 when a page is wrong."""
    from builder.bench.invariants.check import run
    from builder.bench.invariants.reader import FAULTS

    if mutants:
        _search(max_pages, seed, size, as_json=as_json)
        return
    with progress("invariants", histories) as step:
        figures = run(histories, contexts, seed, first, size, step)
    report(figures, as_json, (f"seed {figures['seed']}, {figures['histories']} sessions", "", {"": figures}))
    if any(figures[kind] for kind in FAULTS):
        raise typer.Exit(1)


def _search(max_pages: int, seed: int, size: int, *, as_json: bool) -> None:
    """Report how soon each mutant is found; exit 1 when one is not."""
    from builder.bench.invariants.mutants import MUTANTS
    from builder.bench.invariants.mutation import run

    with progress("mutants", len(MUTANTS)) as step:
        figures = run(max_pages, seed, size, step)
    rows = {name: {"pages": count} for name, count in figures["pages"].items()}
    report(figures, as_json, (f"seed {seed}, pages until it is found", "mutant", rows))
    if figures["found"] < len(MUTANTS):
        raise typer.Exit(1)
