"""An extra of somebody else: a store, a format, a request with its route, a job, a door, a check of `doctor`, and a command."""

import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from typing_extensions import TypedDict, override

from builder.domain.delivery import DeliveryOutcome
from builder.domain.errors import Missing
from builder.domain.page_format import PageFormat
from builder.domain.recall import EVERY_SESSION
from builder.extra import Extra, Host, Request
from builder.ports.store import StoreLocation
from builder.worker.jobs import BackgroundJob

if TYPE_CHECKING:
    from builder.app.doors import Door, DoorParts
    from builder.app.line import JobParts
    from builder.assemble.budget.ledger import Ledger


log = logging.getLogger("toy")


class CountRequest(BaseModel):
    """How many versions a breadcrumb has."""

    id: str


class Count(TypedDict):
    """Versions of the breadcrumb, and deliveries that the service has settled."""

    number: int
    deliveries: int


async def count(host: Host, workspace: str, request: CountRequest) -> dict[str, Any]:
    """See `CountRequest`. Raises `Missing`."""
    await host.log.catch_up(workspace, EVERY_SESSION)
    versions = await host.log.store.versions(workspace, request.id)
    if not versions:
        raise Missing(f"there is no breadcrumb {request.id!r}; look at its id")
    return {"number": len(versions), "deliveries": host.jobs["tally"].deliveries}


class Tally(BackgroundJob):
    """Counts deliveries, and logs the number every minute."""

    every = 60.0

    def __init__(self) -> None:
        self.deliveries = 0

    @override
    def delivered(self, outcome: DeliveryOutcome) -> None:
        self.deliveries += 1

    @override
    async def run_once(self) -> None:
        log.info("%d deliveries", self.deliveries)


@asynccontextmanager
async def tally(_parts: "JobParts") -> AsyncIterator[BackgroundJob]:
    """While the service runs."""
    yield Tally()


def store(url: str) -> StoreLocation:
    """Of `toy:PATH`."""
    from builder.app.broker import location  # noqa: PLC0415 - a command that opens no store loads nothing

    return location(f"sqlite:{url.partition(':')[2]}")


@dataclass(frozen=True)
class Prompt:
    """The page as one message."""

    text: str
    tokens: int

    def fields(self, *, images: bool = True) -> dict[str, Any]:  # noqa: ARG002 - it has none
        """`messages` alone."""
        return {"messages": ({"prompt": self.text},)}


def prompt(ledger: "Ledger") -> Prompt:
    """For `chat_format: prompt`."""
    rendering = ledger.writer.rendering
    text = rendering.page(ledger.writer.profile.page, ledger.page_sections()).text
    return Prompt(text, rendering.page_tokens(text))


@asynccontextmanager
async def bell(parts: "DoorParts") -> "AsyncIterator[Door]":
    """Answers `toy.bell` while the service runs."""
    from builder.app.doors import Door  # noqa: PLC0415 - only the service loads it

    async def ring(message: Any) -> None:
        await message.respond(parts.settings.name.encode())

    subscription = await parts.connection.subscribe("toy.bell", cb=ring)
    try:
        yield Door(facts=lambda _port: {"bell": "toy.bell"})
    finally:
        await subscription.unsubscribe()


async def check(settings: Any, servers: str) -> str:
    """For `doctor`."""
    return f"greets {settings.workspace} at {servers or 'no broker'}"


def toy(name: str) -> None:
    """Greet somebody."""
    sys.stdout.write(f"hello {name}\n")


extra = Extra(
    stores={"toy": store},
    page_formats=lambda: {
        "prompt": PageFormat(
            copy=prompt,
            types={"messages": tuple[dict[str, str], ...]},
            extra_tokens=lambda _writer, _item: 0,
            picture_tokens=lambda _size: 0,
        )
    },
    requests=lambda: {"count": Request(model=CountRequest, answer=Count, right="read", handler=count)},
    jobs={"tally": tally},
    doors={"bell": bell},
    checks={"toy": check},
    commands=lambda: {"toy": toy},
)
