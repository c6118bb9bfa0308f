"""Errors as application/problem+json (RFC 9457), in the sentences of the client."""

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from builder.connection.errors import error_json
from builder.domain.errors import BuilderError, Forbidden, Missing, Rejected, Unavailable
from builder.domain.json_text import shape
from builder.worker.jobs import frames

log = logging.getLogger("builder.http")

RETRY_SECONDS = 5
STATUS: tuple[tuple[type[BuilderError], int], ...] = (
    (Missing, 404), (Forbidden, 403), (Rejected, 422), (Unavailable, 503), (BuilderError, 500),
)  # fmt: skip
"""The first that fits."""
SENTENCES = {
    404: "there is no such path; /openapi.json lists all",
    405: "this path has another method; /openapi.json lists all",
}
PROBLEM = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": "the status in words"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what happened, the value, what to do"},
    },
    "required": ["title", "status", "detail"],
}


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """An answer with an error."""
    body = {"title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(data, status, headers, media_type="application/problem+json")


def status_of(error: BuilderError) -> int:
    """HTTP status of an error of ours."""
    return next(status for kind, status in STATUS if isinstance(error, kind))


def add_handlers(app: FastAPI) -> None:
    """Every error of the application becomes a problem."""

    @app.exception_handler(BuilderError)
    async def ours(_request: Request, error: BuilderError) -> Response:
        status = status_of(error)
        return problem(status, str(error), {"Retry-After": str(RETRY_SECONDS)} if isinstance(error, Unavailable) else None)

    @app.exception_handler(HTTPException)
    async def of_http(_request: Request, error: HTTPException) -> Response:
        return problem(error.status_code, SENTENCES.get(error.status_code, error.detail), error.headers)

    @app.exception_handler(RequestValidationError)
    async def of_validation(request: Request, error: RequestValidationError) -> Response:
        media = request.headers.get("content-type", "")
        if request.method == "POST" and media.partition(";")[0].strip().lower() != "application/json":
            return problem(415, f"the body is of type {media[:100]!r}; send Content-Type: application/json")
        return problem(400, _sentence(error.errors()[0]))

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Exception) -> Response:
        log.error("a bug in %s %s:\n%s", request.method, request.url.path, frames(error))
        return problem(500, str(error_json(error)["error"]))


def _sentence(first: Mapping[str, Any]) -> str:
    if first["type"] == "json_invalid":
        return "the request is not readable JSON; send one UTF-8 JSON object"
    where = ".".join(map(str, first["loc"][1:])) or "the request"
    return f"{where}: {first['msg']}, got {shape(first.get('input'))}; /openapi.json says what a request has"
