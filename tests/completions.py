"""A real HTTP server that answers as endpoints of chat completions do."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from tests.http_server import serving


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

    def running(self) -> AbstractAsyncContextManager[str]:
        """The base URL."""
        return serving("/chat/completions", self.answer, self.held)


def said(content: Any) -> Callable[[], Response]:
    text = content if isinstance(content, str) else json.dumps(content)
    return lambda: JSONResponse({"choices": [{"message": {"role": "assistant", "content": text}}]})
