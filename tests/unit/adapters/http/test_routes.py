"""What /livez and /readyz answer."""

import json
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from builder.adapters.http import Check, routes


def check(problem: str) -> Check:
    async def state() -> str:
        return problem

    return state


async def get(path: str, alive: bool = True, store: str = "", model: str = "") -> tuple[int, dict[str, Any]]:
    """Status code and body of a route, with one required and one reported part."""
    handlers = dict(routes(lambda: alive, {"store": check(store)}, {"model": check(model)}, CollectorRegistry()))
    events: list[dict[str, Any]] = []

    async def send(event: dict[str, Any]) -> None:
        events.append(event)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    await handlers[path]({"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}, receive, send)
    return events[0]["status"], json.loads(events[1]["body"])


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
