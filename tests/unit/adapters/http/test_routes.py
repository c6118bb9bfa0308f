"""What /livez and /readyz answer."""

import asyncio
import json
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from builder.adapters import http
from builder.adapters.http import ENDLESS, Check, Readiness, routes, with_applications
from builder.app.telemetry import Metrics
from builder.domain.errors import Unavailable


def check(problem: str) -> Check:
    async def state() -> str:
        return problem

    return state


async def answer(path: str, readiness: Readiness, registry: CollectorRegistry, alive: bool = True) -> tuple[int, str]:
    handlers = dict(routes(lambda: alive, readiness, registry))
    events: list[dict[str, Any]] = []

    async def send(event: dict[str, Any]) -> None:
        events.append(event)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    await handlers[path]({"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}, receive, send)
    return events[0]["status"], events[1]["body"].decode()


async def get(path: str, alive: bool = True, store: str = "", model: str = "") -> tuple[int, dict[str, Any]]:
    """Status code and body of a route, with one required and one reported part."""
    metrics = Metrics(CollectorRegistry())
    readiness = Readiness({"store": check(store)}, {"model": check(model)}, metrics.parts)
    code, body = await answer(path, readiness, metrics.registry, alive)
    return code, json.loads(body)


async def test_a_living_service_is_ok() -> None:
    assert await get("/livez") == (200, {"status": "ok", "parts": {"watchdog": "ok"}})


async def test_a_loop_that_ended_makes_the_service_fail() -> None:
    code, body = await get("/livez", alive=False)
    assert (code, body["status"]) == (503, "failing")
    assert "a loop has ended" in body["parts"]["watchdog"]


@pytest.mark.parametrize(
    ("store", "model", "code", "status"),
    [("", "", 200, "ok"), ("", "loading", 200, "degraded"), ("full", "", 503, "failing"), ("full", "loading", 503, "failing")],
)
async def test_readiness_depends_on_required_parts_and_reports_the_others(store: str, model: str, code: int, status: str) -> None:
    parts = {"store": store or "ok", "model": model or "ok"}
    assert await get("/readyz", store=store, model=model) == (code, {"status": status, "parts": parts})


async def test_a_scrape_shows_each_part_and_asks_again_only_when_nobody_has_asked_for_seconds() -> None:
    metrics, asked = Metrics(CollectorRegistry()), 0

    async def broken() -> str:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        raise Unavailable("the broker is gone")

    readiness = Readiness({"stream": broken}, {"model": check("")}, metrics.parts)
    scrapes = await asyncio.gather(*(answer("/metrics", readiness, metrics.registry) for _ in range(50)))
    assert asked == 1
    for code, text in scrapes:
        assert code == 200
        assert {"context_builder_ready 0.0", 'context_builder_part_ok{part="stream"} 0.0'} <= set(text.splitlines())
        assert 'context_builder_part_ok{part="model"} 1.0' in text
    code, body = await answer("/readyz", readiness, metrics.registry)
    assert (code, json.loads(body)["parts"]["stream"], asked) == (503, "the broker is gone", 2)
    await asyncio.gather(*(answer("/readyz", readiness, metrics.registry) for _ in range(50)))
    assert asked <= 4, "those who wait for a look share the next one"


async def test_a_part_that_hangs_is_a_problem_of_its_own_and_holds_up_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "CHECK_SECONDS", 0.01)

    async def hanging() -> str:
        await asyncio.Event().wait()
        return ""

    metrics = Metrics(CollectorRegistry())
    readiness = Readiness({"store": check("")}, {"model": hanging}, metrics.parts)
    code, body = await answer("/readyz", readiness, metrics.registry)
    assert (code, json.loads(body)["status"]) == (200, "degraded")
    assert json.loads(body)["parts"]["model"].startswith("it did not answer within")


async def test_what_an_application_leaves_as_endless_is_called_once_its_layers_are_gone() -> None:
    calls: list[str] = []

    async def endless(_receive: Any, _send: Any) -> None:
        calls.append("endless")

    async def api(scope: dict[str, Any], _receive: Any, _send: Any) -> None:
        scope["state"][ENDLESS] = endless
        scope["route"] = "a layer"
        calls.append("api")

    scope: dict[str, Any] = {"type": "http", "path": "/v1/contexts/default/events", "state": {}}
    await with_applications(None, {"/": api})(scope, None, None)
    assert calls == ["api", "endless"]
    assert scope == {"type": "http", "path": "/v1/contexts/default/events", "state": {}}


async def test_the_longest_start_of_a_path_decides_and_the_probes_have_theirs() -> None:
    calls: list[str] = []

    def application(name: str) -> Any:
        async def answer(_scope: Any, _receive: Any, _send: Any) -> None:
            calls.append(name)

        return answer

    whole = with_applications(application("probes"), {"/": application("api"), "/page": application("page")})
    for path in ("/v1/search", "/page/1", "/page", "/pages", "/readyz"):
        await whole({"type": "http", "path": path}, None, None)
    await whole({"type": "lifespan"}, None, None)
    await with_applications(application("probes"), {"/page": application("page")})({"type": "http", "path": "/v1"}, None, None)
    assert calls == ["api", "page", "page", "api", "probes", "probes", "probes"]
