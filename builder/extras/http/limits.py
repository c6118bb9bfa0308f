"""Limits of a request: bytes and seconds of its body, requests a minute of a token."""

import asyncio
import math
import time
from typing import Any

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_SECONDS = 30.0
"""Until all of a body is there."""
BESIDE_BODY_BYTES = 64 * 1024
"""Of a request, above those of a breadcrumb's body."""


class BodyLimit:
    """ASGI middleware: a larger body is answered with 413, a slower one with 408."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        """most: bytes."""
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or scope["method"] == "GET":
            await self._app(scope, receive, send)
            return
        size, loop = 0, asyncio.get_running_loop()
        deadline, is_whole = loop.time() + BODY_SECONDS, False

        async def limited() -> Message:
            nonlocal size, is_whole
            if is_whole:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, f"the body did not come within {BODY_SECONDS:.0f} s; send it again") from None
            size += len(message.get("body", b""))
            if size > self._most:
                raise HTTPException(413, f"the body has more than {self._most:,} bytes; send a link to the large part")
            is_whole = not message.get("more_body", False)
            return message

        await self._app(scope, limited, send)


class RateLimit:
    """So many a minute of each."""

    def __init__(self, a_minute: int, sentence: str) -> None:
        """a_minute: 0 = no limit. sentence: of the refusal, with {name} and {a_minute}."""
        self._sentence = sentence
        self._a_minute = a_minute
        self._item = RateLimitItemPerMinute(max(a_minute, 1))
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())

    def count(self, name: str) -> None:
        """One more. Raises `HTTPException` 429."""
        if self._a_minute and not self._limiter.hit(self._item, name):
            window: Any = self._limiter.get_window_stats(self._item, name)
            sentence = self._sentence.format(name=name, a_minute=f"{self._a_minute:,}")
            raise HTTPException(429, sentence, {"Retry-After": str(max(1, math.ceil(window.reset_time - time.time())))})


REQUESTS = "token {name!r} made more than {a_minute} requests in a minute; wait, or raise CONTEXT_BUILDER_HTTP__REQUESTS_A_MINUTE"
FAILURES = (
    "more than {a_minute} requests in a minute came from {name} without a valid token; wait, or raise "
    "CONTEXT_BUILDER_HTTP__FAILURES_A_MINUTE"
)
