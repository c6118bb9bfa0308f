"""Deliveries of durable JetStream pull consumers: the inbox of the worker, and one durable for each kind that nobody waits for.

FastStream hosts the subscription of the inbox; the messages come through `Pull`, as long as places are free. They run side by
side, and the worker keeps the order inside a session.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from faststream import AckPolicy
from faststream.asgi import AsgiFastStream
from faststream.nats import JStream, NatsBroker, NatsMessage
from faststream.nats.security import NatsCredentials, NatsNKey, NatsSecurity, NatsToken, NatsUserPassword
from faststream.security import BaseSecurity
from nats.aio.client import Client
from nats.aio.msg import Msg

from builder.adapters.nats.connection import believe_only_the_server, translated
from builder.adapters.nats.delivery import InWork, NatsDelivery, is_replay
from builder.adapters.nats.topology import FLOOR, Listening, Topology, all_breadcrumbs, current_incarnation, ensure_durable
from builder.connection.pull import Pull
from builder.domain.breadcrumb import Place
from builder.ports.store import Progress
from builder.ports.stream import Delivery
from builder.wire.subjects import DEFAULT, Installation

log = logging.getLogger("builder.nats")

MAX_OPEN = 4096
"""Deliveries that may be open: the burst of a session waits here for its turns."""


class NatsInbox:
    """The subscription. `broker` starts and stops with the ASGI application."""

    def __init__(
        self,
        connection: dict[str, Any],
        slots: int,
        graceful_seconds: float,
        process: Callable[[Delivery], Coroutine[Any, Any, None]],
        incarnation: Callable[[], int],
        delivery: Callable[[Msg, int], Delivery] = NatsDelivery,
        installation: Installation = DEFAULT,
    ) -> None:
        """connection: arguments of nats-py's connect. slots: sessions that are served at once. process: the worker's.

        incarnation: of the stream as it is now. delivery: what a message and its incarnation become.
        """
        believe_only_the_server()
        self._durable = all_breadcrumbs(installation)
        # Without apply_types: FastStream fills typed arguments in threads, which takes time and mixes up the order.
        self.broker = NatsBroker(
            **_broker_arguments(connection),
            graceful_timeout=graceful_seconds,
            logger=None,
            apply_types=False,
        )
        self._subscriber = self.broker.subscriber(
            self._durable.subjects[0],
            stream=JStream(self._durable.stream, declare=False),
            durable=self._durable.durable,
            pull_sub=True,
            ack_policy=AckPolicy.MANUAL,
            decoder=_whole,
            title="breadcrumbs",
            description="Every breadcrumb of every workspace: breadcrumbs.{workspace}.{session}.{schema}",
        )

        async def handle(message: NatsMessage) -> None:
            item = delivery(message.raw_message, incarnation())
            self._in_work.begin(item, process(item))

        self._subscriber(handle)
        self._graceful_seconds = graceful_seconds
        self._in_work = InWork(slots, self._look, MAX_OPEN)
        self._pull: Pull | None = None
        self._pending = 0
        """Messages of the durable that had not been delivered when the last one came."""

    @property
    def is_busy(self) -> bool:
        """Whether a live delivery waits or is in work, or what comes next is not known yet."""
        return bool(self._pending) or not self._in_work.is_empty

    def application(self, routes: Sequence[tuple[str, Any]]) -> AsgiFastStream:
        """The ASGI application: its lifespan is the subscription's."""
        # FastStream reports its start before it subscribes, so a failed subscription would go unnoticed.
        return AsgiFastStream(self.broker, asgi_routes=routes, logger=None, on_startup=[self._start], on_shutdown=[self._finish])

    async def rebind(self) -> None:
        """Ask again, after the durable was made again."""
        if self._pull is not None:
            self._pull.renew()

    async def _start(self) -> None:
        connection = await self.broker.connect()
        # Only the watchdog makes the durable; a durable made here would deliver the whole history.
        await connection.jetstream().consumer_info(self._durable.stream, self._durable.durable)
        durable = self._durable.stream, self._durable.durable
        self._pull = Pull(connection, durable, lambda: self._in_work.free, self._take)
        # A subscriber that has its subscription makes none and fetches nothing by itself; it only ends it.
        self._subscriber.subscription = self._pull  # type: ignore[assignment]
        await self.broker.start()
        await self._pull.open()

    async def _take(self, message: Msg) -> None:
        self._pending = message.metadata.num_pending
        if is_replay(message.headers):
            await message.ack()
        else:
            await self._subscriber.consume(message)

    def _look(self) -> None:
        if self._pull is not None:
            self._pull.look()

    async def _finish(self) -> None:
        """Take nothing more, give what was begun its time, and hand the rest back: the next worker has it at once."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._graceful_seconds
        if self._pull is not None:
            await self._pull.unsubscribe()
        await self._subscriber.stop()
        await self._in_work.finish(deadline - loop.time())


class BackgroundInbox:
    """Hands the deliveries of one durable to their work, while they are needed."""

    def __init__(
        self,
        connection: Client,
        topology: Topology,
        ledger: Progress,
        incarnation: Callable[[], int],
        listening: Listening,
        process: Callable[[Delivery], Coroutine[Any, Any, None]],
        is_needed: Callable[[], bool] = lambda: True,
    ) -> None:
        """process: settles a delivery and never raises. incarnation: of the stream as the watchdog knows it."""
        self._connection = connection
        self._js = connection.jetstream()
        self._topology = topology
        self._durable = listening
        self._process = process
        self._ledger = ledger
        self._incarnation = incarnation
        self._is_needed = is_needed
        self._in_work = InWork(listening.places, self._freed)
        self._pull: Pull | None = None

    async def close(self) -> None:
        """Hand back what is in work."""
        await self._stop()
        await self._in_work.finish(0)

    async def look(self) -> None:
        """Make the durable while it is needed, from where it was last, else from where the inbox was; otherwise fetch nothing.

        Nothing of a recreated stream is fetched before the watchdog knows it: its positions would be those of the old one.
        Raises `Misconfigured` and `Unavailable`.
        """
        with translated(f"looking at the durable {self._durable.durable}"):
            await self._look()

    async def _look(self) -> None:
        incarnation, key = await current_incarnation(self._js, self._topology.installation), ("", self._durable.ledger)
        if not self._is_needed() or incarnation != self._incarnation():
            await self._stop()
            return
        floor = await self._ledger.watermark(*key)
        start = floor if floor.incarnation else await self._ledger.watermark(*FLOOR)
        info = await ensure_durable(self._js, self._topology, start, incarnation, self._durable)
        await self._ledger.advance(*key, Place(incarnation, info.ack_floor.stream_seq if info.ack_floor else 0))
        if self._pull is None:
            durable = (self._durable.stream, self._durable.durable)
            pull = Pull(self._connection, durable, lambda: self._in_work.free, self._begin)
            await pull.open()
            self._pull = pull

    async def _stop(self) -> None:
        pull, self._pull = self._pull, None
        if pull is not None:
            await pull.unsubscribe()

    async def _begin(self, message: Msg) -> None:
        delivery = NatsDelivery(message, self._incarnation())
        self._in_work.begin(delivery, self._process(delivery))

    def _freed(self) -> None:
        if self._pull is not None:
            self._pull.look()


async def _whole(message: NatsMessage) -> NatsMessage:
    """The worker reads the bytes itself, so that what cannot be read becomes a dead letter and not a stack trace."""
    return message


_SECURITY_ARGUMENTS = frozenset({"user", "password", "token", "user_credentials", "nkeys_seed", "tls"})
"""Arguments of nats-py's connect that FastStream has in an object."""


def _broker_arguments(connection: dict[str, Any]) -> dict[str, Any]:
    """Arguments of FastStream's broker. connection: of nats-py's connect."""
    others = {name: value for name, value in connection.items() if name not in _SECURITY_ARGUMENTS}
    return others | {"security": _security(connection)}


def _security(connection: dict[str, Any]) -> BaseSecurity | None:
    tls = connection.get("tls")
    if "user" in connection:
        return NatsUserPassword(connection["user"], connection.get("password", ""), ssl_context=tls)
    if "token" in connection:
        return NatsToken(connection["token"], ssl_context=tls)
    if "user_credentials" in connection:
        return NatsCredentials.from_file(connection["user_credentials"], ssl_context=tls)
    if "nkeys_seed" in connection:
        return NatsNKey.from_file(connection["nkeys_seed"], ssl_context=tls)
    return NatsSecurity(ssl_context=tls) if tls else None
