"""A real HTTP server on loopback that embeds as OpenAI-compatible endpoints do, by the prepared model, and fails when told to."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from builder.adapters.embedding.onnx import OnnxModel
from tests.models import prepared

WIDTH = 384
Answer = Callable[[dict[str, Any]], Response]


@cache
def model() -> OnnxModel:
    return OnnxModel(prepared().folder)


def vectors(body: dict[str, Any]) -> Response:
    """In any order, each with its index."""
    rows = [
        {"object": "embedding", "index": index, "embedding": np.frombuffer(model().encode(text), "<f2").tolist()}
        for index, text in enumerate(body["input"])
    ]
    return JSONResponse({"object": "list", "data": rows[::-1], "model": body["model"], "usage": {"total_tokens": 1}})


def status(code: int) -> Answer:
    return lambda _: PlainTextResponse("no", status_code=code)


def data(*rows: object) -> Answer:
    return lambda _: JSONResponse({"data": [{"index": index, "embedding": row} for index, row in enumerate(rows)]})


class EmbeddingServer:
    """Gives the answers one by one, afterwards vectors. seen: bodies and headers of the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.seen: list[tuple[dict[str, Any], dict[str, str]]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self._answers: Iterator[Answer] = iter(answers)

    @property
    def inputs(self) -> list[list[str]]:
        """The texts of each request."""
        return [body["input"] for body, _ in self.seen]

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        self.seen.append((body, dict(request.headers)))
        await self.gate.wait()
        return next(self._answers, vectors)(body)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """The base URL."""
        application = Starlette(routes=[Route("/v1/embeddings", self.answer, methods=["POST"])])
        server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="error", lifespan="off"))
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.001)
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
        finally:
            self.gate.set()
            server.should_exit = True
            await task
