"""Options that many commands share, and the broker and workspace of a command."""

import json
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builder.app.console import say, settings
from builder.domain.errors import Rejected
from builder.domain.json_values import JsonObject

if TYPE_CHECKING:
    from builder.app.address import Address
    from builder.app.settings import Settings
    from builder.client import Client

ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""Beginnings of ZIP, gzip and zstd, which hold files of lines and are none."""

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

    async def request(self, name: str, request: JsonObject) -> JsonObject:
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
        return _content(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Rejected(f"{file} is no UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8") from error


def lines_of(file: Path) -> Iterator[str]:
    """JSON in UTF-8, UTF-16 or UTF-32; bytes that are no UTF-8 are U+DC80 to U+DCFF, halves of a pair in UTF-16 stay.

    A last character that is cut is left out. file: "-" = standard input. Raises `Rejected`.
    """
    data = _content(file)
    if data.startswith(ARCHIVES):
        raise Rejected(f"{file} is packed; unpack it, and name the JSON file in it")
    encoding = json.detect_encoding(data)
    errors = {"utf-16": "surrogatepass", "utf-32": "replace"}.get(encoding[:6], "surrogateescape")
    return iter(getincrementaldecoder(encoding)(errors).decode(data).split("\n"))  # U+2028 may be inside a JSON string


def _content(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise Rejected(f"{file} cannot be read: {error.strerror}; name another file") from error
