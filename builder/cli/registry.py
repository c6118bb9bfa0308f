"""The tree of commands."""

from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from builder import __version__
from builder.cli.commands import messages, operate, records
from builder.extra import additions

ABOUT = "Hears every message of an agent system on NATS and publishes the one context each agent needs."
COMMANDS: Mapping[str, Callable[..., None]] = {
    "up": operate.up,
    "worker": operate.worker,
    "send": messages.send,
    "chat": messages.chat,
    "watch": messages.watch,
    "doctor": operate.doctor,
    "fetch": records.fetch,
    "history": records.history,
    "context": records.context,
    "search": records.search,
    "forget": records.forget,
}


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


_commands = {**COMMANDS, **additions("commands", COMMANDS)}
application = _group(ABOUT, _commands)
application.callback(help=ABOUT)(_options)
for name, (about, commands) in additions("groups", _commands).items():
    application.add_typer(_group(about, commands), name=name)
