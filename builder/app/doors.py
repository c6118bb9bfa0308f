"""Doors: what extras open beside NATS while the service runs."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from nats.aio.client import Client

from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.extra import Host, additions
from builder.worker.jobs import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorParts:
    """The parts of the running service that a door may use."""

    settings: Settings
    connection: Client
    """To the broker; it is the service's own, and stays open."""
    host: Host
    """What handlers of requests get: log, consumers, and the rest."""
    makes_token: bool
    """Whether a door may make a token of its own on loopback, where nobody has set one: as `up` says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A door while it is open; the service runs what it names."""

    application: Any = None
    """ASGI, without a lifespan. It answers on the service's HTTP port; None = the door is not on HTTP."""
    path: str = "/"
    """Start of the paths that the application answers, up to a slash. The longest of all doors decides, and the application
    checks its callers itself."""
    jobs: tuple[Job, ...] = ()
    observe: Callable[[str, str, float], None] = lambda _name, _outcome, _seconds: None
    """Gets name, outcome and seconds of each request over NATS."""
    stopping: Callable[[], None] = lambda: None
    """Called before open HTTP requests are waited for."""
    facts: Callable[[int], Mapping[str, str]] = lambda _port: {}
    """HTTP port → name and value of what the service logs when it has started."""


@asynccontextmanager
async def open_doors(parts: DoorParts) -> AsyncIterator[tuple[Door, ...]]:
    """Those of the installed extras. Raises `Misconfigured`, also for two on one path."""
    async with AsyncExitStack() as stack:
        doors: list[Door] = []
        for name, opener in additions("doors").items():
            door: Door | None = await stack.enter_async_context(opener(parts))
            if door is None:
                continue
            if door.application is not None and door.path in applications(doors):
                raise Misconfigured(f"the door {name!r} and another one answer the path {door.path}; uninstall one of them")
            doors.append(door)
        if parts.settings.http.tokens is not None and not applications(doors):
            raise Misconfigured(
                "CONTEXT_BUILDER_HTTP__TOKENS is set, and no installed extra opens a door on HTTP; "
                "install the package again (`make up` in a clone), or take the variable away"
            )
        yield tuple(doors)


def applications(doors: Iterable[Door]) -> dict[str, Any]:
    """Start of a path → the ASGI application that answers it."""
    return {door.path: door.application for door in doors if door.application is not None}
