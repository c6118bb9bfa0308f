"""Options that many commands share, and the broker and workspace of a command."""

import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.app.console import say, settings
from builder.domain.errors import Rejected

if TYPE_CHECKING:
    from builder.app.address import Address
    from builder.app.settings import Settings
    from builder.client import Client

User = Annotated[str, typer.Option("--user", "-u", help="A user, by your own id for them (`user_id`).")]
Workspace = Annotated[str, typer.Option("--workspace", "-w", help="Workspace; default from CONTEXT_BUILDER_WORKSPACE.")]
Servers = Annotated[
    str,
    typer.Option(
        "--servers",
        help="NATS URLs; default from CONTEXT_BUILDER_NATS__SERVERS or __PORT, else those of the service on "
        "CONTEXT_BUILDER_DATA_DIR, else nats://127.0.0.1:4222.",
    ),
]
Session = Annotated[str, typer.Option("--session", "-s", help="Session: one conversation, any text.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse the whole file for one line that cannot be read.")]


@dataclass(frozen=True, slots=True)
class Target:
    """Settings, broker and workspace of a command."""

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

    async def request(self, name: str, request: dict[str, Any]) -> dict[str, Any]:
        """Raises `Rejected` and `Unavailable`."""
        async with self.connect() as client:
            return await client.request(name, request)


def target_of(servers: str, workspace: str = "") -> Target:
    """A guessed address is printed."""
    from builder.app.address import broker_address

    configuration = settings()
    address = broker_address(configuration, servers)
    if address.guess:
        say(address.guess)
    return Target(configuration, address, workspace or configuration.workspace)


def text_of(file: Path) -> str:
    """file: "-" = standard input. Raises `Rejected`."""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    except OSError as error:
        raise Rejected(f"{file} cannot be read: {error.strerror}; name another file") from error
    except UnicodeDecodeError as error:
        raise Rejected(f"{file} is no UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8") from error


def lines_of(file: Path) -> Iterator[str]:
    """UTF-8, or UTF-16 with its mark; other bytes are U+DC80 to U+DCFF. file: "-" = standard input. Raises `Rejected`."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise Rejected(f"{file} cannot be read: {error.strerror}; name another file") from error
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return iter(data.decode("utf-16", "surrogatepass").split("\n"))
    return iter(data.decode("utf-8", "surrogateescape").split("\n"))  # U+2028 may be inside a JSON string
