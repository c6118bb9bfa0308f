"""Work that is done again while broker or service are away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from builder.domain.errors import Unavailable

log = logging.getLogger("builder.client")

T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 2.0
"""Seconds; each pause is twice the one before."""


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
