"""Work on long input, in one thread beside the event loop: other sessions go on meanwhile, and several such works take turns."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from contextvars import ContextVar
from typing import TypeVar

from builder.domain.breadcrumb import Breadcrumb, StreamMessage

THREAD_CHARS = 20_000
"""Work on a longer text is done in the thread."""

_THREAD = ThreadPoolExecutor(1, "long-input")
"""One, because several would leave the event loop little time."""

THREAD_TURN: ContextVar[Callable[[], AbstractAsyncContextManager[None]]] = ContextVar("thread_turn", default=nullcontext)
"""Within it the work of the present task is done; whoever hands out turns says how the task waits for the thread."""

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """The result of the work, done in the thread. Raises what it raises."""
    async with THREAD_TURN.get()():
        return await asyncio.get_running_loop().run_in_executor(_THREAD, work)


async def decoded(decode: Callable[[StreamMessage], Breadcrumb], message: StreamMessage) -> Breadcrumb:
    """The breadcrumb of a message, of a long one decoded in the thread. Raises `Rejected`."""
    return await in_thread(lambda: decode(message)) if len(message.data) > THREAD_CHARS else decode(message)
