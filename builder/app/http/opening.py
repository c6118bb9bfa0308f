"""The door of a running service: which tokens open it, and where its parts come from."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from nats.aio.client import Client as Connection

from builder.adapters.nats.contexts import ContextStream
from builder.app.http.door import ROUTES, Parts, application
from builder.app.http.events import Fanout
from builder.app.http.limits import FAILURES, REQUESTS, RateLimit
from builder.app.http.tokens import OWN_TOKEN, local_tokens
from builder.app.line import Line
from builder.app.settings import Settings
from builder.app.verbs import verbs
from builder.extra import Host, additions
from builder.worker.access import AccessControl


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDoor:
    """The API, served beside the probes."""

    application: Any
    fanout: Fanout
    own_token: Path | None
    """File of the token that `up` made."""


def open_door(settings: Settings, connection: Connection, line: Line, host: Host, *, makes_token: bool) -> OpenDoor | None:
    """None = no token opens it. makes_token: on loopback, where no file of tokens is set. Raises `Misconfigured`."""
    http = settings.http
    if http.tokens is None and not (makes_token and _is_loopback(http.host)):
        return None
    tokens = local_tokens(http.tokens, settings.data_dir, settings.workspace)
    additions("requests", ROUTES)  # raises for a name of a route
    rights = {name: each for name, each in verbs().items() if each.right}
    routes = {name: each for name, each in rights.items() if each.has_route}
    access = AccessControl(line.log, line.consumers, host, rights)
    fanout = Fanout(ContextStream(connection.jetstream(), settings.installation), access, tokens.holders)
    parts = Parts(
        access=access, tokens=tokens, rate=RateLimit(http.requests_a_minute, REQUESTS),
        failures=RateLimit(http.failures_a_minute, FAILURES), fanout=fanout, log=line.log,
        connection=connection, installation=settings.installation,
    )  # fmt: skip
    own = None if http.tokens else settings.data_dir.expanduser() / OWN_TOKEN
    return OpenDoor(application=application(parts, settings.worker.max_body_bytes, routes), fanout=fanout, own_token=own)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
