"""A real HTTP server that answers as endpoints of chat completions do."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route


def slow() -> Response:
    """An answer that comes when the server ends."""
    return PlainTextResponse("late")


class Server:
    """Gives the answers one by one, the last one for ever. seen: bodies and headers of the requests."""

    def __init__(self, *answers: Callable[[], Response]) -> None:
        self.seen: list[tuple[dict[str, Any], dict[str, str]]] = []
        self._answers = list(answers)
        self.held = asyncio.Event()

    async def answer(self, request: Request) -> Response:
        self.seen.append((await request.json(), dict(request.headers)))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer is slow:
            await self.held.wait()
        return answer()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        application = Starlette(routes=[Route("/v1/chat/completions", self.answer, methods=["POST"])])
        server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="error", lifespan="off"))
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.001)
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
        finally:
            self.held.set()
            server.should_exit = True
            await task


def said(content: Any) -> Callable[[], Response]:
    text = content if isinstance(content, str) else json.dumps(content)
    return lambda: JSONResponse({"choices": [{"message": {"role": "assistant", "content": text}}]})
