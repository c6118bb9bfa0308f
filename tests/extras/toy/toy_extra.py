"""An extra of somebody else: a store, a request with its route, a check of `doctor`, and a command."""

import sys
from typing import Any

from pydantic import BaseModel
from typing_extensions import TypedDict

from builder.domain.errors import Missing
from builder.domain.recall import EVERY_SESSION
from builder.extra import Extra, Host, Request
from builder.ports.store import StoreLocation


class CountRequest(BaseModel):
    """How many versions a breadcrumb has."""

    id: str


class Count(TypedDict):
    """A number."""

    number: int


async def count(host: Host, workspace: str, request: CountRequest) -> dict[str, Any]:
    """See `CountRequest`. Raises `Missing`."""
    await host.log.catch_up(workspace, EVERY_SESSION)
    versions = await host.log.store.versions(workspace, request.id)
    if not versions:
        raise Missing(f"there is no breadcrumb {request.id!r}; look at its id")
    return {"number": len(versions)}


def store(url: str) -> StoreLocation:
    """Of `toy:PATH`."""
    from builder.app.broker import location  # noqa: PLC0415 - a command that opens no store loads nothing

    return location(f"sqlite:{url.partition(':')[2]}")


async def check(settings: Any, servers: str) -> str:
    """For `doctor`."""
    return f"greets {settings.workspace} at {servers or 'no broker'}"


def toy(name: str) -> None:
    """Greet somebody."""
    sys.stdout.write(f"hello {name}\n")


extra = Extra(
    stores={"toy": store},
    requests=lambda: {"count": Request(model=CountRequest, answer=Count, right="read", handler=count)},
    checks={"toy": check},
    commands=lambda: {"toy": toy},
)
