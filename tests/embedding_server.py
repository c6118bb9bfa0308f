"""A real HTTP server on loopback that embeds as OpenAI-compatible endpoints do, by the prepared model, and fails when told to."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from builder.adapters.embedding.onnx import OnnxModel
from tests.http_server import serving
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

    def running(self) -> AbstractAsyncContextManager[str]:
        """The base URL."""
        return serving("/embeddings", self.answer, self.gate)
