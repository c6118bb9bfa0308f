"""Runs the ASGI application in this process until told to stop."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from builder.domain.errors import Misconfigured


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ours are handled by the command: uvicorn would raise them again after a clean stop, and the exit code would be -15."""
        yield


async def serve(application: Any, host: str, port: int, stop: asyncio.Event, started: Callable[[int], None]) -> None:
    """Serve until `stop` is set. started: called with the port once the application is up. Raises `Misconfigured`."""
    server = _Server(uvicorn.Config(application, host=host, port=port, log_config=None, lifespan="on", access_log=False))
    serving = asyncio.create_task(_run(server, host, port))
    stopping = asyncio.create_task(stop.wait())
    try:
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        if server.started:
            started(server.servers[0].sockets[0].getsockname()[1])
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
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
