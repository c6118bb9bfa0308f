"""Health, readiness and metrics as ASGI routes; FastStream's ASGI application serves them."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from faststream.asgi import AsgiResponse, get
from prometheus_client import CollectorRegistry, make_asgi_app

FAILING = "failing"
Check = Callable[[], Awaitable[str]]
"""Why a part does not work; empty when it does."""


def routes(
    alive: Callable[[], bool], required: Mapping[str, Check], reported: Mapping[str, Check], registry: CollectorRegistry
) -> list[tuple[str, Any]]:
    """/livez asks the watchdog, /readyz every part; /metrics is Prometheus text.

    required: the service is not ready while one of them fails. reported: while one of them fails the status is "degraded".
    """

    @get(include_in_schema=False)
    async def livez(_scope: Any) -> AsgiResponse:
        problems = {"watchdog": "" if alive() else "the subscription could not be brought back, or a loop has ended; see the log"}
        return _answer("ok" if alive() else FAILING, problems)

    @get(include_in_schema=False)
    async def readyz(_scope: Any) -> AsgiResponse:
        problems = {name: await check() for name, check in {**required, **reported}.items()}
        failing = any(problems[name] for name in required)
        return _answer(FAILING if failing else "degraded" if any(problems.values()) else "ok", problems)

    return [("/livez", livez), ("/readyz", readyz), ("/metrics", make_asgi_app(registry))]


def _answer(status: str, parts: Mapping[str, str]) -> AsgiResponse:
    body = {"status": status, "parts": {name: problems or "ok" for name, problems in parts.items()}}
    code = 503 if status == FAILING else 200
    return AsgiResponse(json.dumps(body).encode(), status_code=code, headers={"content-type": "application/json"})
