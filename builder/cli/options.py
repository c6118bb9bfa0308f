"""Options that many commands share, where a command works, and how it prints: data on standard output, all else beside it."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.domain.errors import Misconfigured, Rejected

if TYPE_CHECKING:
    from builder.app.address import Address
    from builder.app.settings import Settings
    from builder.client import Client

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
User = Annotated[str, typer.Option("--user", "-u", help="A person, by `user_id`: who it is in your own system.")]
Workspace = Annotated[str, typer.Option("--workspace", "-w", help="Workspace; default from CONTEXT_BUILDER_WORKSPACE.")]
Servers = Annotated[
    str,
    typer.Option(
        "--servers",
        help="NATS URLs; default from CONTEXT_BUILDER_NATS__SERVERS or __PORT, else those of the service on "
        "CONTEXT_BUILDER_DATA_DIR, else nats://127.0.0.1:4222.",
    ),
]
Advance = Callable[[int, int], None]
"""Called with how much is done, of how much; 0 = nobody knows of how much."""
LINE_SECONDS = 10.0
"""Between two lines of progress where standard error is no terminal."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a command works."""

    settings: "Settings"
    address: "Address"
    workspace: str

    @property
    def servers(self) -> str:
        """URLs of the broker."""
        return self.address.servers

    def connect(self) -> "AbstractAsyncContextManager[Client]":
        """A client for the block. Raises `Unavailable`."""
        from builder.app.broker import client_options
        from builder.client import connect

        return connect(self.servers, self.workspace, name=self.settings.name, **client_options(self.servers, self.settings))


def settings() -> "Settings":
    """The settings from the environment. Raises `Misconfigured` with the name of the variable."""
    import os

    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from builder.app.settings import PREFIX, Settings, check_names

    check_names(os.environ)
    try:
        return Settings()
    except SettingsError as error:
        raise Misconfigured(f"{PREFIX}…: {error}: {error.__cause__}; write JSON, or unset it") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        variable = PREFIX + "__".join(str(step).upper() for step in first["loc"])
        raise Misconfigured(f"{variable}: {first['msg']}, got {first['input']!r:.80}; mend or unset it") from error


def target(servers: str, workspace: str = "") -> Target:
    """Settings, broker and workspace of a command, from its options; a guessed address is announced."""
    from builder.app.address import broker_address

    configuration = settings()
    address = broker_address(configuration, servers)
    if address.guess:
        say(address.guess)
    return Target(configuration, address, workspace or configuration.workspace)


def show(value: Any, as_json: bool, text: str = "", note: str = "") -> None:
    """Print the value as JSON, or as text for people. note: a line for people on standard error."""
    if as_json:
        json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
        sys.stdout.write("\n")
        return
    sys.stdout.write(text)
    if note:
        say(note)


def say(text: str) -> None:
    """A line for people on standard error, so that standard output stays data."""
    sys.stderr.write(text + "\n")


def text_of(file: Path) -> str:
    """The text of the file, or of standard input for "-". Raises `Rejected` when it cannot be read."""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    except OSError as error:
        raise Rejected(f"{file} cannot be read: {error.strerror}; name another file") from error
    except UnicodeDecodeError as error:
        raise Rejected(f"{file} is no UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8") from error


@contextmanager
def progress_bars(*names: str, every: float = LINE_SECONDS) -> Iterator[tuple[Advance, ...]]:
    """The functions that move a bar for each name on standard error, or write lines where that is no terminal.

    every: seconds between two lines.
    """
    from functools import partial
    from time import monotonic

    from rich.console import Console
    from rich.progress import Progress, TaskID

    console, written = Console(stderr=True), monotonic()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:

        def move(task: TaskID, done: int, total: int) -> None:
            nonlocal written
            progress.update(task, completed=done, total=total or None)
            if progress.disable and monotonic() - written >= every:
                say(f"{progress.tasks[task].description}: {done:,}" + (f" of {total:,}" if total else ""))
                written = monotonic()

        yield tuple(partial(move, progress.add_task(name, total=None)) for name in names)


@contextmanager
def progress_bar(name: str, every: float = LINE_SECONDS) -> Iterator[Advance]:
    """One bar while the block runs, and the function that moves it."""
    with progress_bars(name, every=every) as (advance,):
        yield advance
