"""Options that many commands share, and how they print."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from builder.app import Address
    from builder.app.settings import Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Workspace = Annotated[str, typer.Option("--workspace", "-w", help="Workspace; default from CONTEXT_BUILDER_WORKSPACE.")]
Servers = Annotated[
    str,
    typer.Option(
        "--servers",
        help="NATS URLs; default from CONTEXT_BUILDER_NATS__SERVERS or __PORT, else those of the service on "
        "CONTEXT_BUILDER_DATA_DIR, else nats://127.0.0.1:4222.",
    ),
]


def settings() -> "Settings":
    """The settings from the environment. Raises `Misconfigured` naming the variable."""
    from pydantic import ValidationError

    from builder.app.settings import Settings
    from builder.domain.errors import Misconfigured

    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        variable = "CONTEXT_BUILDER_" + "__".join(str(step).upper() for step in first["loc"])
        raise Misconfigured(f"{variable}: {first['msg']}, got {first['input']!r:.80}; mend or unset it") from error


def broker(mine: "Settings", servers: str) -> "Address":
    """The broker that a command talks to; a guess is said. servers: of its option."""
    from builder.app import broker_address

    address = broker_address(mine, servers)
    if address.guess:
        say(address.guess)
    return address


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def say(text: str) -> None:
    """A line for people, on standard error, so that standard output stays data."""
    sys.stderr.write(text + "\n")
