"""Health, readiness and metrics as ASGI routes, which FastStream's ASGI application serves, and beside them the API."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any

import uvicorn
from faststream.asgi import AsgiResponse, get
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from builder.adapters.http.protocol import BoundedProtocol
from builder.domain.errors import Misconfigured, Unavailable

PATHS = ("/livez", "/readyz", "/metrics")
ENDLESS = "endless"
"""Name in the state of a request, see `with_applications`."""
FAILING = "failing"
FRESH_SECONDS = 5.0
"""A scrape may be this old: the chart's probe asks `/readyz` as often."""
STOP_SECONDS = 10
"""For open requests, when the service stops."""
CHECK_SECONDS = 3.0
"""The chart's probes wait for five."""
Check = Callable[[], Awaitable[str]]
"""Problem; empty = it works. May raise `Unavailable`."""


class Readiness:
    """States of the service's parts, asked all at once."""

    def __init__(
        self, required: Mapping[str, Check], reported: Mapping[str, Check], show: Callable[[Mapping[str, str], bool], None]
    ) -> None:
        """required: the status is "failing" while one of them fails. reported: it is "degraded" then.

        show: called after each look with the problem of each part, and whether the service is ready.
        """
        self._required, self._checks = frozenset(required), {**required, **reported}
        self._show = show
        self._lock = asyncio.Lock()
        self._looked_at = float("-inf")
        self._problems: dict[str, str] = {}

    async def look(self, fresh: float = 0.0) -> tuple[str, Mapping[str, str]]:
        """Status, and problem of each part. fresh: seconds; a look that began so long before counts."""
        oldest = monotonic() - fresh
        async with self._lock:
            if self._looked_at < oldest:
                self._looked_at = monotonic()
                problems = await asyncio.gather(*map(_problem, self._checks.values()))
                self._problems = dict(zip(self._checks, problems, strict=True))
            degraded = "degraded" if any(self._problems.values()) else "ok"
            status = FAILING if any(self._problems[name] for name in self._required) else degraded
            self._show(self._problems, status != FAILING)
            return status, self._problems


def routes(alive: Callable[[], bool], readiness: Readiness, registry: CollectorRegistry) -> list[tuple[str, Any]]:
    """/livez asks the watchdog, /readyz every part; /metrics is Prometheus text."""

    @get(include_in_schema=False)
    async def livez(_scope: Any) -> AsgiResponse:
        problems = {"watchdog": "" if alive() else "the subscription could not be brought back, or a loop has ended; see the log"}
        return _answer("ok" if alive() else FAILING, problems)

    @get(include_in_schema=False)
    async def readyz(_scope: Any) -> AsgiResponse:
        return _answer(*await readiness.look())

    @get(include_in_schema=False)
    async def metrics(_scope: Any) -> AsgiResponse:
        await readiness.look(FRESH_SECONDS)
        # In a thread: a gauge may ask a slow disk.
        text = await asyncio.to_thread(generate_latest, registry)
        return AsgiResponse(text, status_code=200, headers={"content-type": CONTENT_TYPE_PLAIN_0_0_4})

    return list(zip(PATHS, (livez, readyz, metrics), strict=True))


def with_applications(probes: Any, others: Mapping[str, Any]) -> Any:
    """One ASGI application: its lifespan and the three paths above are those of `probes`.

    others: start of a path → the application that answers it; the longest start decides. What one leaves in the state as ENDLESS
    is called with `receive` and `send` once all its layers are gone.
    """

    async def answered(scope: dict[str, Any], receive: Any, send: Any) -> Any:
        own = scope["type"] != "http" or scope["path"] in PATHS
        starts = () if own else [start for start in others if f"{scope['path']}/".startswith(f"{start.rstrip('/')}/")]
        await (others[max(starts, key=len)] if starts else probes)(scope, receive, send)
        return scope.get("state", {}).pop(ENDLESS, None)

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if endless := await answered(scope.copy(), receive, send):
            await endless(receive, send)

    return application


async def _problem(check: Check) -> str:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await check()
    except Unavailable as error:
        return str(error)
    except TimeoutError:
        return f"it did not answer within {CHECK_SECONDS:.0f} s; look at the load and at the log"


def _answer(status: str, parts: Mapping[str, str]) -> AsgiResponse:
    body = {"status": status, "parts": {name: problems or "ok" for name, problems in parts.items()}}
    code = 503 if status == FAILING else 200
    return AsgiResponse(json.dumps(body).encode(), status_code=code, headers={"content-type": "application/json"})


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The command handles signals: uvicorn would raise them again after a clean stop, and the exit code would be -15."""
        yield


async def serve(
    application: Any,
    host: str,
    port: int,
    stop: asyncio.Event,
    started: Callable[[int], None],
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """started: called with the port. stopping: before open requests are waited for. Raises `Misconfigured`."""
    config = uvicorn.Config(
        application, host=host, port=port, http=BoundedProtocol, log_config=None, lifespan="on", access_log=False, ws="none",
        server_header=False, timeout_graceful_shutdown=STOP_SECONDS,
    )  # fmt: skip
    server = _Server(config)
    serving = asyncio.create_task(_run(server, host, port))
    waiting = asyncio.create_task(stop.wait())
    try:
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        if server.started:
            started(server.servers[0].sockets[0].getsockname()[1])
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        stopping()
        server.should_exit = True
        await serving


async def _run(server: uvicorn.Server, host: str, port: int) -> None:
    try:
        await server.serve()
    except SystemExit as error:
        if server.lifespan.should_exit:
            raise Misconfigured("the service did not start; the lines above say why") from error
        raise Misconfigured(
            f"HTTP cannot listen on {host}:{port}; another program may have the port, set CONTEXT_BUILDER_HTTP__PORT"
        ) from error
    if not server.started:
        raise Misconfigured("the service did not start; the lines above say why")
