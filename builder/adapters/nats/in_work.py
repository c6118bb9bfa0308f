"""Deliveries in work side by side, for whoever reads a durable."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from builder.adapters.nats.delivery import NatsDelivery


class InWork:
    """Up to `places` deliveries at once. freed: called when one has ended."""

    def __init__(self, places: int, freed: Callable[[], None]) -> None:
        self._places = places
        self._freed = freed
        self._working: dict[asyncio.Task[None], NatsDelivery] = {}

    @property
    def free(self) -> int:
        """Places that are left."""
        return self._places - len(self._working)

    def begin(self, delivery: NatsDelivery, work: Coroutine[Any, Any, None]) -> None:
        """Begin now, so that it is kept alive and keeps its turn in its session."""
        task = asyncio.create_task(work)
        self._working[task] = delivery
        task.add_done_callback(self._end)

    async def finish(self, seconds: float) -> None:
        """Give what was begun its time, and hand the rest back: the next worker has it at once."""
        if self._working:
            await asyncio.wait(self._working, timeout=max(seconds, 0))
        unfinished = dict(self._working)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        for task, delivery in unfinished.items():
            if task.cancelled():
                await delivery.retry(0)

    def _end(self, task: asyncio.Task[None]) -> None:
        del self._working[task]
        self._freed()
