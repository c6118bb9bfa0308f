"""Health, readiness and metrics as ASGI routes; FastStream's ASGI application serves them."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from faststream.asgi import AsgiResponse, get
from prometheus_client import CollectorRegistry, make_asgi_app

Check = Callable[[], Awaitable[str]]
"""Gives an empty string when the part is well, else what is wrong with it."""


def routes(alive: Callable[[], bool], checks: Mapping[str, Check], registry: CollectorRegistry) -> list[tuple[str, Any]]:
    """/livez hangs on the watchdog; /readyz asks every part; /metrics is Prometheus text."""

    @get(include_in_schema=False)
    async def livez(_scope: Any) -> AsgiResponse:
        return _answer(alive(), {"watchdog": "" if alive() else "the subscription could not be brought back"})

    @get(include_in_schema=False)
    async def readyz(_scope: Any) -> AsgiResponse:
        said = {name: await check() for name, check in checks.items()}
        return _answer(not any(said.values()), said)

    return [("/livez", livez), ("/readyz", readyz), ("/metrics", make_asgi_app(registry))]


def _answer(well: bool, parts: Mapping[str, str]) -> AsgiResponse:
    body = {"status": "ok" if well else "failing", "parts": {name: said or "ok" for name, said in parts.items()}}
    return AsgiResponse(json.dumps(body).encode(), status_code=200 if well else 503, headers={"content-type": "application/json"})
