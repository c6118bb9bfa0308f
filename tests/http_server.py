"""A real HTTP server on loopback for endpoints that the service calls."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


@asynccontextmanager
async def serving(path: str, answer: Callable[[Request], Awaitable[Response]], gate: asyncio.Event) -> AsyncIterator[str]:
    """The base URL. gate: what answers wait for; it is set before the server ends."""
    application = Starlette(routes=[Route(f"/v1{path}", answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="error", lifespan="off"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.001)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    finally:
        gate.set()
        server.should_exit = True
        await task
