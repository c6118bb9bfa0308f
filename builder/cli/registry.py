"""The tree of commands."""

from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from builder import __version__
from builder.bench.commands import finding, pages, speed
from builder.cli.commands import explain, messages, operate, records, stores
from builder.extra import additions

ABOUT = "Hears every message of an agent system on NATS and publishes the one context each agent needs."
COMMANDS: Mapping[str, Callable[..., None]] = {
    "up": operate.up,
    "worker": operate.worker,
    "demo": operate.demo,
    "send": messages.send,
    "chat": messages.chat,
    "watch": messages.watch,
    "compact": messages.compact,
    "migrate": stores.migrate,
    "migrate-store": stores.migrate_store,
    "reindex": stores.reindex,
    "backup": stores.backup,
    "restore": stores.restore,
    "doctor": operate.doctor,
    "fetch": records.fetch,
    "history": records.history,
    "context": records.context,
    "search": records.search,
    "explain": explain.explain,
    "why": explain.why,
    "replay": explain.replay,
    "forget": records.forget,
    "purge": records.purge,
    "cost": explain.cost,
    "export": records.export,
    "import": messages.import_events,
}
GROUPS: Mapping[str, tuple[str, Mapping[str, Callable[..., None]]]] = {
    "models": ("Embedding models.", {"prepare": stores.prepare, "list": stores.list_models, "switch": stores.switch}),
    "dead-letters": (
        "Rejected breadcrumbs, and why.",
        {
            "list": operate.list_dead_letters,
            "show": operate.show_dead_letter,
            "retry": operate.retry_dead_letter,
            "clear": operate.clear_dead_letters,
        },
    ),
    "bench": (
        "Measure recall, speed, memory, the store, tokens, prefix, fidelity, summaries, the sandbox; convert public data.",
        {
            "recall": finding.recall,
            "latency": speed.latency,
            "tokens": pages.tokens,
            "prefix": pages.prefix,
            "rcrt": pages.rcrt,
            "answers": pages.answers,
            "pages": pages.pages,
            "fidelity": pages.fidelity,
            "invariants": pages.invariants,
            "fit": finding.fit,
            "search": finding.search,
            "vectors": finding.vectors,
            "workspaces": finding.workspaces,
            "convert": finding.convert,
            "plot": finding.plot,
            "explain": speed.explain,
            "load": speed.load,
            "memory": speed.memory,
            "http": speed.http,
            "plan": speed.plan,
            "store": speed.store,
            "sandbox": speed.sandbox,
        },
    ),
}
"""Name → help text and commands."""


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"context-builder {__version__}")
        raise typer.Exit


def _options(
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)] = False,
) -> None:
    """Options before every command."""


def _group(about: str, commands: Mapping[str, Callable[..., None]]) -> typer.Typer:
    group = typer.Typer(
        name="context-builder", help=about, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
    )
    for name, command in commands.items():
        group.command(name=name)(command)
    return group


application = _group(ABOUT, {**COMMANDS, **additions("commands", COMMANDS)})
application.callback(help=ABOUT)(_options)
for name, (about, commands) in {**GROUPS, **additions("groups", GROUPS)}.items():
    application.add_typer(_group(about, commands), name=name)
