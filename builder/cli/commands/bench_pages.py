"""The benchmark commands about pages: what they save, and what of them a prompt cache can keep."""

from typing import Annotated

import typer

from builder.cli.bench_options import File, ProfileName, measured, numbers, progress, table
from builder.cli.options import AsJson, print_json


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
    steps = sum(len(part.breadcrumbs) + len(sizes) * len(part.questions) for part in dataset.conversations)
    report = measured("tokens", steps, lambda core, step: bench.run(core, dataset, core.profile(profile), sizes, step))
    if as_json:
        print_json(report)
        return
    table(f"{report['dataset']}, what is sent without it", "baseline", report["baselines"])
    table(f"profile {report['profile']}, {report['questions']} questions", "budget", report["budgets"])


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
    steps = sum(len(part.breadcrumbs) + len(part.questions) for part in dataset.conversations)
    report = measured("prefix", steps, lambda core, step: bench.run(core, dataset, bench.orders(core, profile), turns, step))
    if as_json:
        print_json(report)
    else:
        table(f"{report['dataset']}, last {turns} turns of each conversation", "order", report["orders"])


def fidelity(
    file: File = "sample",
    profile: ProfileName = "default",
    *,
    as_json: AsJson = False,
) -> None:
    """Messages that a page holds whole and in order: of conversations that just fit, and of those that are too long."""
    from builder.bench.data.datasets import load
    from builder.bench.quality import fidelity as bench

    dataset = load(file)
    steps = sum(len(part.breadcrumbs) for part in dataset.conversations)
    report = measured("fidelity", steps, lambda core, step: bench.run(core, dataset, core.profile(profile), step))
    if as_json:
        print_json(report)
        return
    for name in ("fits", "pressure"):
        table(f"{report['dataset']}, profile {report['profile']}", "", {name: report[name]})


def summaries(
    file: File = "sample",
    profile: ProfileName = "default",
    cap: Annotated[int, typer.Option(min=20, help="Most tokens of a summary.")] = 400,
    *,
    as_json: AsJson = False,
) -> None:
    """Share of the answers' words that a summary keeps, beside as many tokens of evenly spaced messages; and what it costs."""
    from builder.bench.data.datasets import load
    from builder.bench.quality import summaries as bench

    dataset = load(file)
    steps = 1 + sum(len(part.breadcrumbs) for part in dataset.conversations)
    report = measured("summaries", steps, lambda core, step: bench.run(core, dataset, core.profile(profile), cap, step))
    if as_json:
        print_json(report)
        return
    table(f"{report['dataset']}, {report['cap']} tokens", "conversation", report["conversations"])
    table("a made session", "messages", {str(report["made"].pop("messages")): report["made"]})


def invariants(
    histories: Annotated[int, typer.Option(min=1, help="Random sessions.")] = 1000,
    contexts: Annotated[int, typer.Option(min=1, help="Pages, at least one a session.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The same number makes the same sessions.")] = 1,
    first: Annotated[int, typer.Option(min=0, help="Number of the first session, to see one again.")] = 0,
    size: Annotated[int, typer.Option(min=4, max=60, help="Mean number of records of a session that is not long.")] = 12,
    *,
    mutants: Annotated[bool, typer.Option("--mutants", help="Change assembly a little, and say how soon each is found.")] = False,
    most: Annotated[int, typer.Option(min=1, help="Pages in which a mutant must be found.")] = 2000,
    as_json: AsJson = False,
) -> None:
    """Random sessions under random wishes: a page that has room for all of it says all of it, and no page says it wrong."""
    from builder.bench.invariants.check import run
    from builder.bench.invariants.reader import FAULTS

    if mutants:
        _search(most, seed, size, as_json=as_json)
        return
    with progress("invariants", histories) as step:
        report = run(histories, contexts, seed, first, size, step)
    if as_json:
        print_json(report)
    else:
        table(f"seed {report['seed']}, {report['histories']} sessions", "", {"": report})
    if any(report[kind] for kind in FAULTS):
        raise typer.Exit(1)


def _search(most: int, seed: int, size: int, *, as_json: bool) -> None:
    """Report how soon each mutant is found; exit 1 when one is not."""
    from builder.bench.invariants.mutants import MUTANTS
    from builder.bench.invariants.mutation import run

    with progress("mutants", len(MUTANTS)) as step:
        report = run(most, seed, size, step)
    if as_json:
        print_json(report)
    else:
        table(f"seed {seed}, pages until it is found", "mutant", {name: {"pages": n} for name, n in report["pages"].items()})
    if report["found"] < len(MUTANTS):
        raise typer.Exit(1)
