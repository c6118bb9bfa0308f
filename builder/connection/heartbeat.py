"""Signs of life while something is in work."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def heartbeat(beat: Callable[[], Awaitable[None]], every: float) -> AsyncIterator[None]:
    """Call `beat` every so many seconds while the block runs."""

    async def beats() -> None:
        while True:
            await asyncio.sleep(every)
            await beat()

    task = asyncio.create_task(beats())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})  # unlike awaiting it, this lets a cancellation of the block itself through
