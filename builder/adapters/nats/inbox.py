"""The inbox: a FastStream subscriber on a durable JetStream pull consumer that hands deliveries to the worker.

FastStream hosts the subscription, its metrics and its lifespan. Batches are fetched without `batch=True` (a lone message
would wait for the whole time-out) and run side by side; the worker keeps the order inside a session.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from faststream import AckPolicy
from faststream.asgi import AsgiFastStream
from faststream.nats import JStream, NatsBroker, NatsMessage, PullSub
from faststream.nats.prometheus import NatsPrometheusMiddleware
from nats.errors import Error as NatsError
from nats.js.api import DeliverPolicy
from prometheus_client import CollectorRegistry

from builder.adapters.nats.status import believe_only_the_server
from builder.adapters.nats.stream import arrival_of
from builder.adapters.nats.topology import BREADCRUMBS, DURABLE
from builder.domain.breadcrumb import Arrival
from builder.ports import Delivery

log = logging.getLogger("builder.nats")

FETCH_SECONDS = 5.0
UNSETTLED = "could not %s breadcrumb %d: %r; the broker will deliver it again"


class NatsDelivery:
    """See the port."""

    def __init__(self, message: NatsMessage, incarnation: int) -> None:
        self._message = message
        self.arrival: Arrival = arrival_of(message.raw_message, incarnation)

    async def ack(self) -> None:
        """See the port."""
        await self._settle("ack", self._message.ack())

    async def retry(self, delay: float) -> None:
        """See the port."""
        await self._settle("retry", self._message.nack(delay=delay))

    async def reject(self) -> None:
        """See the port."""
        await self._settle("reject", self._message.reject())

    async def keep_alive(self) -> None:
        """See the port."""
        await self._settle("keep alive", self._message.in_progress())

    async def _settle(self, how: str, settling: Awaitable[None]) -> None:
        try:
            await settling
        except (NatsError, OSError) as error:
            log.warning(UNSETTLED, how, self.arrival.place.sequence, error)


class NatsInbox:
    """The subscription. `broker` starts and stops with the ASGI application."""

    def __init__(
        self,
        connection: dict[str, Any],
        batch: int,
        graceful_seconds: float,
        registry: CollectorRegistry,
        process: Callable[[Delivery], Coroutine[Any, Any, None]],
        incarnation: Callable[[], int],
    ) -> None:
        """connection: arguments of nats-py's connect. process: the worker's. incarnation: of the stream as it is now."""
        believe_only_the_server()
        metrics = NatsPrometheusMiddleware(registry=registry, app_name="context-builder")
        # Without apply_types: FastStream fills typed arguments in threads, which takes time and mixes up the order of a batch.
        self.broker = NatsBroker(
            **connection, graceful_timeout=graceful_seconds, middlewares=(metrics,), logger=None, apply_types=False
        )
        self._subscriber = self.broker.subscriber(
            "breadcrumbs.>",
            stream=JStream(BREADCRUMBS, declare=False),
            durable=DURABLE,
            # Only the watchdog makes the durable. Where it is missing nats-py would make one that begins with the whole
            # history; this one, without its sequence, the server refuses.
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            pull_sub=PullSub(batch_size=batch, timeout=FETCH_SECONDS),
            ack_policy=AckPolicy.MANUAL,
            decoder=_whole,
            title="breadcrumbs",
            description="Every breadcrumb of every workspace: breadcrumbs.{workspace}.{session}.{schema}",
        )

        async def handle(message: NatsMessage) -> None:
            await self._begin(process(NatsDelivery(message, incarnation())))

        self._subscriber(handle)
        self._rebinding = asyncio.Lock()
        self._graceful_seconds = graceful_seconds
        self._working: set[asyncio.Task[None]] = set()
        self._latest: deque[asyncio.Task[None]] = deque(maxlen=batch)

    def application(self, routes: Sequence[tuple[str, Any]]) -> AsgiFastStream:
        """The ASGI application: its lifespan is the subscription's."""
        # By itself FastStream says that it has started and then subscribes; nobody would notice when that fails.
        return AsgiFastStream(
            self.broker, asgi_routes=routes, logger=None, on_startup=[self.broker.start], on_shutdown=[self._finish]
        )

    async def rebind(self) -> None:
        """Subscribe again, after the durable was made again."""
        async with self._rebinding:
            await self._subscriber.stop()
            await self._subscriber.start()

    async def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin now, so that it is kept alive and keeps its turn; return once the delivery a batch ahead of it is settled.

        FastStream fetches when a whole batch has returned. Were each to wait for its own end, the engine would stand idle
        from the end of a batch until the next has come.
        """
        ahead = self._latest[0] if len(self._latest) == self._latest.maxlen else None
        task = asyncio.create_task(work)
        self._latest.append(task)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        if ahead is not None:
            await asyncio.wait({ahead})

    async def _finish(self) -> None:
        """Take nothing more, give what was begun its time, and end the rest: it is delivered again to the next worker."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._graceful_seconds
        await self._subscriber.stop()
        if self._working:
            await asyncio.wait(self._working, timeout=max(deadline - loop.time(), 0))
        for task in self._working:
            task.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)


async def _whole(message: NatsMessage) -> NatsMessage:
    """The worker reads the bytes itself, so that what cannot be read becomes a dead letter and not a stack trace."""
    return message
