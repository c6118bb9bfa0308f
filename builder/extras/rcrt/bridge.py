"""The bridge on the broker: RCRT's events to the intake, contexts to the writer, each settled when it is done."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import MaxPayloadError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import NotFoundError

from builder.connection.opening import translated
from builder.connection.pull import Pull
from builder.domain.errors import BuilderError, Rejected, Unavailable
from builder.extras.rcrt.intake import Intake
from builder.extras.rcrt.settling import settle
from builder.wire.records import Outgoing
from builder.wire.subjects import CONTEXTS, MESSAGE_ID_HEADER, REPLAY_HEADER, Installation
from builder.worker.jobs import UnexpectedError, guard

log = logging.getLogger("builder.rcrt")

STREAM, EVENTS = "RCRT_BREADCRUMBS", ("bc.*.created", "bc.*.updated")
"""The stream and its subjects; installations on one broker share it."""
MAX_AGE_SECONDS = 7 * 24 * 3600.0
"""An older event that a bridge has not read goes: a listing brings its record."""
ACK_SECONDS = 10.0
"""After which what a killed bridge had in work comes again."""
BEAT_SECONDS = 3.0
"""Between two heartbeats of what waits."""
WRITES = 32
"""Contexts that are written at once."""
_FAILED, _ADVICE = "the bridge to RCRT cannot use the broker", "is JetStream enabled, and may this user make streams?"


def publisher(connection: Client, installation: Installation) -> Callable[[Outgoing, bool], Awaitable[None]]:
    """Publishes breadcrumbs. What it gives raises `Rejected` for one that is too large, and `Unavailable`."""
    js, stream = connection.jetstream(), installation.stream("BREADCRUMBS")

    async def publish(event: Outgoing, is_old: bool) -> None:
        headers = {MESSAGE_ID_HEADER: event.message_id} | ({REPLAY_HEADER: "1"} if is_old else {})
        try:
            with translated("publishing a record of RCRT failed", "is the broker up?"):
                await js.publish(installation.subject(event.subject), event.data, stream=stream, headers=headers)
        except Unavailable as error:
            if isinstance(error.__cause__, MaxPayloadError):
                size, limit = len(event.data), connection.max_payload
                raise Rejected(f"it has {size:,} bytes, the broker takes {limit:,}; raise max_payload there") from error
            raise

    return publish


class Writer(Protocol):
    """Takes contexts."""

    async def write(self, data: bytes, *, again: bool) -> str:
        """Returns a word for the log. again: an earlier attempt may have written. Raises `Rejected`."""


class Bridge:
    """Opened with `async with open()`."""

    def __init__(
        self,
        connection: Client,
        installation: Installation,
        replicas: int,
        intake: Intake,
        writer: Writer,
        listen: Client | None = None,
    ) -> None:
        """listen: a connection on which events are only heard, so that nothing is made on RCRT's broker; None = `connection`."""
        self._connection = connection
        self._listen = listen
        self._js = connection.jetstream()
        self._own = installation
        self._replicas = replicas
        self._intake = intake
        self._writer = writer
        self._writes = dict[asyncio.Task[None], Msg]()
        self._pulls: tuple[Pull, ...] = ()
        self._reconnects = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Deliver during the block; what is in work at its end comes again. Raises `Unavailable`."""
        await self.look()
        contexts = Pull(self._connection, (self._contexts, self._durable), lambda: WRITES - len(self._writes), self._begin)
        events = Pull(self._connection, (STREAM, self._durable), lambda: self._intake.free, self._hear)
        self._pulls = (contexts,) if self._listen else (contexts, events)
        if self._listen:
            await self._listen.subscribe("bc.*.*", cb=self._overhear)
        for pull in self._pulls:
            await pull.open()
        tasks = [asyncio.create_task(each) for each in (self._intake.run(self.look_again, self.waiting), self._beat())]
        try:
            yield
        finally:
            for pull in self._pulls:
                await pull.unsubscribe()
            unsettled = (*self._intake.messages, *self._writes.values())
            for task in (tasks := [*tasks, *self._writes]):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for message in unsettled:
                await settle(message, "nak")

    @property
    def _durable(self) -> str:
        return f"{self._own.name}-rcrt"

    @property
    def _contexts(self) -> str:
        return self._own.stream("CONTEXTS")

    async def look(self) -> bool:
        """Make what is missing; returns whether the connection was lost since the last look. Raises `Unavailable`."""
        with translated(_FAILED, _ADVICE):
            if self._listen is None:
                await self._ensure_stream()
                await self._ensure_durable(STREAM, {"max_ack_pending": 1_000})
            start = {"deliver_policy": DeliverPolicy.NEW}  # contexts of before are of no use to RCRT
            subject = self._own.subject(f"{CONTEXTS}.>")
            await self._ensure_durable(self._contexts, {"filter_subject": subject, "max_ack_pending": WRITES, **start})
        before, self._reconnects = self._reconnects, (self._listen or self._connection).stats["reconnects"]
        return before != self._reconnects

    async def waiting(self) -> frozenset[str]:
        """Ids of records whose events have not been settled. Raises `Unavailable`."""
        if self._listen:
            return frozenset()
        with translated(_FAILED, _ADVICE):
            durable = await self._js.consumer_info(STREAM, self._durable)
            if not (durable.num_pending or durable.num_ack_pending):  # what other installations have not read
                return frozenset()
            info = await self._js.stream_info(STREAM, subjects_filter="bc.>")
        return frozenset(subject.split(".")[1] for subject in info.state.subjects or ())

    async def _ensure_stream(self) -> None:
        try:
            await self._js.stream_info(STREAM)
        except NotFoundError:
            # An event that all bridges have settled is deleted: its record is in BREADCRUMBS, or was a secret.
            config = StreamConfig(
                name=STREAM, subjects=list(EVENTS), retention=RetentionPolicy.INTEREST, storage=StorageType.FILE,
                num_replicas=self._replicas, max_age=MAX_AGE_SECONDS,
            )  # fmt: skip
            await self._js.add_stream(config)
            self._renew()

    async def _ensure_durable(self, stream: str, options: dict[str, Any]) -> None:
        try:
            await self._js.consumer_info(stream, self._durable)
        except NotFoundError:
            config = ConsumerConfig(
                durable_name=self._durable, ack_policy=AckPolicy.EXPLICIT, ack_wait=ACK_SECONDS, max_deliver=-1, **options
            )
            await self._js.add_consumer(stream, config)
            self._renew()

    def _renew(self) -> None:
        for pull in self._pulls:
            pull.renew()

    async def _hear(self, message: Msg) -> None:
        await self._intake.hear(message.data, message)

    async def _overhear(self, message: Msg) -> None:
        await self._intake.hear(message.data, None)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            for message in (*self._intake.messages, *self._writes.values()):
                await settle(message, "in_progress")

    async def _begin(self, message: Msg) -> None:
        task = asyncio.create_task(self._write(message))
        self._writes[task] = message
        task.add_done_callback(self._written)

    def _written(self, task: asyncio.Task[None]) -> None:
        self._writes.pop(task, None)
        self.look_again()

    def look_again(self) -> None:
        """More may come."""
        for pull in self._pulls:
            pull.look()

    async def _write(self, message: Msg) -> None:
        try:
            outcome = await guard(
                self._writer.write(message.data, again=message.metadata.num_delivered > 1), log, "a write to RCRT"
            )
            log.debug("%s: %s", message.subject, outcome)
        except Rejected as error:
            log.warning("a context is not written to RCRT: %s", error)
        except (BuilderError, UnexpectedError) as error:
            log.warning("a context waits: %s", error)
            return  # the broker delivers it again
        await settle(message, "ack")
