"""Imported breadcrumbs give way: they are remembered while nobody waits for a context."""

import asyncio
from collections.abc import Awaitable, Callable

from builder.ports.broker import Delivery
from builder.worker.resilience import Pace, give_way, heartbeat

AT_ONCE = 2
"""Imported breadcrumbs in work at once: one is embedded while the other one is written."""


class Imports:
    """Takes every breadcrumb, and processes the imported ones."""

    def __init__(
        self, process: Callable[[Delivery], Awaitable[None]], busy: Callable[[], bool], every: float, pace: Pace
    ) -> None:
        """process: the worker's. busy: whether live deliveries wait or are in work. every: seconds between two heartbeats."""
        self._process = process
        self._busy = busy
        self._every = every
        self._pace = pace
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def process(self, delivery: Delivery) -> None:
        """Settle one delivery. Never raises. The inbox has the live ones."""
        if not delivery.arrival.replay:
            await delivery.ack()
            return
        async with heartbeat(delivery.keep_alive, self._every), self._turns:
            await give_way(self._busy, self._pace)
            await self._process(delivery)
