"""Health, readiness and metrics as ASGI routes; FastStream's ASGI application serves them."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any

from faststream.asgi import AsgiResponse, get
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from builder.domain.errors import Unavailable

FAILING = "failing"
FRESH_SECONDS = 5.0
"""Age up to which a scrape shows what the parts said last: the chart's probe asks `/readyz` as often."""
CHECK_SECONDS = 3.0
"""How long a part may take to answer; the chart's probes wait for five."""
Check = Callable[[], Awaitable[str]]
"""Why a part does not work; empty when it does. May raise `Unavailable`."""


class Readiness:
    """What the parts of the service say; all of them are asked at once."""

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
        """The status, and the problem of each part. fresh: seconds; a look that began so long before, or later, counts."""
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

    return [("/livez", livez), ("/readyz", readyz), ("/metrics", metrics)]


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
