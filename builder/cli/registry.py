"""The tree of commands."""

from typing import Annotated

import typer

from builder import __version__
from builder.cli.commands import bench, bench_pages, operate, profiles
from builder.cli.commands import bench_speed as load
from builder.cli.commands import messages as talk
from builder.cli.commands import records as recollect
from builder.cli.commands import serve as run

application = typer.Typer(
    name="context-builder",
    help="Hears every message of an agent system on NATS and publishes the one context each agent needs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
models = typer.Typer(help="Embedding models.", no_args_is_help=True)
schemas = typer.Typer(help="JSON Schemas of every event.", no_args_is_help=True)
profile_group = typer.Typer(help="Profiles and presets: what is in force, and what is wrong with them.", no_args_is_help=True)
dead_letters = typer.Typer(help="What was rejected, and why.", no_args_is_help=True)
benches = typer.Typer(
    help="Measure recall, latency, repeats, load, memory, tokens, prefix, fidelity and summaries.", no_args_is_help=True
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"context-builder {__version__}")
        raise typer.Exit


@application.callback()
def _options(
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)] = False,
) -> None:
    """Hears every message of an agent system on NATS and publishes the one context each agent needs."""


for command in (run.up, run.worker, run.demo, talk.send, talk.watch, talk.build, talk.compact, operate.reindex, operate.doctor):
    application.command()(command)
for look in (recollect.fetch, recollect.history, recollect.context, recollect.forget, recollect.purge, recollect.export):
    application.command()(look)
application.command(name="import")(talk.import_events)
models.command(name="prepare")(operate.prepare)
models.command(name="list")(operate.list_models)
schemas.command(name="export")(operate.export)
profile_group.command(name="list")(profiles.list_profiles)
for look_at in (profiles.show, profiles.diff, profiles.lint):
    profile_group.command()(look_at)
dead_letters.command(name="list")(operate.list_dead_letters)
dead_letters.command(name="show")(operate.show_dead_letter)
dead_letters.command(name="retry")(operate.retry_dead_letter)
dead_letters.command(name="clear")(operate.clear_dead_letters)
for measure in (
    bench.recall,
    bench.latency,
    bench_pages.tokens,
    bench_pages.prefix,
    bench_pages.fidelity,
    bench_pages.summaries,
    bench_pages.invariants,
    bench.fit,
    bench.repeats,
    load.load,
    load.memory,
):
    benches.command()(measure)
groups = {
    "profiles": profile_group,
    "models": models,
    "schemas": schemas,
    "dead-letters": dead_letters,
    "bench": benches,
}
for name, group in groups.items():
    application.add_typer(group, name=name)
