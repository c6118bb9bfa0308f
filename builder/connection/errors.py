"""Errors of requests: as answers, raised from them, and waited for."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from builder.domain.errors import BuilderError, Rejected, Unavailable
from builder.domain.json_values import JsonObject

log = logging.getLogger("builder.client")

T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 2.0
"""Seconds; each pause is twice the one before."""


def error_json(error: Exception) -> JsonObject:
    """An error as a sentence; kind: "unavailable" = try again, "rejected" = do not."""
    is_ours = isinstance(error, BuilderError)
    kind = "rejected" if isinstance(error, Rejected) else "unavailable"
    return {"error": str(error) if is_ours else "a bug in the service; its log has the traceback", "kind": kind}


def raise_error(answer: JsonObject) -> None:
    """Raise the error of `error_json`, if the answer has one."""
    if "error" in answer:
        raise (Rejected if answer.get("kind") == "rejected" else Unavailable)(str(answer["error"]))


async def patiently(work: Callable[[], Awaitable[T]], what: str, loss: type[Unavailable] = Unavailable) -> T:
    """Retried while broker or service are away. what: for the log. loss: what is waited for; the rest is raised."""
    number = 0
    while True:
        try:
            return await work()
        except loss as error:
            log.log(logging.INFO if number else logging.WARNING, "%s waits: %s", what, error)
            await asyncio.sleep(min(FIRST_PAUSE * 2**number, LONGEST_PAUSE))
            number += 1
