"""The door of a running service: which tokens open it, and where its parts come from."""

import json
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address

from builder.adapters.nats.contexts import ContextStream
from builder.app.access import AccessControl
from builder.app.doors import Door, DoorParts
from builder.app.requests import all_requests
from builder.app.settings import HttpSettings
from builder.app.tokens import OWN_TOKEN, local_tokens
from builder.extra import additions


@asynccontextmanager
async def open_door(parts: DoorParts) -> AsyncIterator[Door | None]:
    """None = no token opens it. Raises `Misconfigured`."""
    settings, http = parts.settings, parts.settings.http
    if http.tokens is None and not (parts.makes_token and _is_loopback(http.host)):
        yield None
        return
    # A worker without tokens needs no FastAPI.
    from builder.extras.http.door import ROUTES, Parts, application
    from builder.extras.http.events import Fanout
    from builder.extras.http.limits import FAILURES, REQUESTS, RateLimit

    tokens = local_tokens(http.tokens, settings.data_dir, settings.workspace)
    additions("requests", ROUTES)  # raises for a name of a route
    rights = {name: each for name, each in all_requests().items() if each.right}
    routes = {name: each for name, each in rights.items() if each.has_route}
    access = AccessControl(parts.host, rights)
    fanout = Fanout(ContextStream(parts.connection.jetstream(), settings.installation), access, tokens.holders)
    own = Parts(
        access=access, tokens=tokens, rate=RateLimit(http.requests_a_minute, REQUESTS),
        failures=RateLimit(http.failures_a_minute, FAILURES), fanout=fanout, log=parts.host.log,
        connection=parts.connection, installation=settings.installation,
    )  # fmt: skip
    token = "" if http.tokens else shlex.quote(str(settings.data_dir.expanduser() / OWN_TOKEN))
    yield Door(
        application=application(own, settings.worker.max_body_bytes, routes),
        jobs=fanout.jobs,
        stopping=fanout.close,
        facts=lambda port: {"api": _first_request(http, port, token)},
    )


def _first_request(http: HttpSettings, port: int, token: str) -> str:
    """What somebody types first. token: its file, as a shell reads it; "" = the operator's own tokens."""
    host = f"[{http.host}]" if ":" in http.host else http.host
    if not token:
        return f"http://{host}:{port}/docs"
    header = f'-H "Authorization: Bearer $(cat {token})" --json'
    message = shlex.quote(json.dumps({"session": "s1", "content": "Hello"}))
    return f"curl {header} {message} http://{host}:{port}/v1/contexts"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
