"""Asking the running service, or its store while none runs."""

import json
from collections.abc import AsyncIterator
from typing import Any

from builder.app import answer_from_store
from builder.cli.talking import client_options
from builder.client import Unavailable, connect
from builder.settings import Settings


async def ask(settings: Settings, servers: str, workspace: str, verb: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of the service. Raises `Rejected` and `Unavailable`."""
    async with connect(servers, workspace, **client_options(settings, servers)) as client:
        return await client.ask(verb, request)


async def look_up(settings: Settings, servers: str, workspace: str, verb: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of the service, or of its store while no service answers. Raises `Rejected` and `Unavailable`."""
    try:
        return await ask(settings, servers, workspace, verb, request)
    except Unavailable:
        return await answer_from_store(settings, workspace, verb, json.dumps(request).encode())


async def pages(
    settings: Settings, servers: str, workspace: str, request: dict[str, Any], most: int
) -> AsyncIterator[dict[str, Any]]:
    """Breadcrumbs of a history, at most so many; 0 = all."""
    after: str | None = ""
    told = 0
    while after is not None:
        page = await look_up(settings, servers, workspace, "history", request | {"after": after})
        for breadcrumb in page["breadcrumbs"]:
            yield breadcrumb
            told += 1
            if told == most:
                return
        after = page["next"]
