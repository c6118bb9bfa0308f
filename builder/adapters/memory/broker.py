"""A broker in memory: the part of nats-py's client that this project uses, over streams in dictionaries.

It is held to the same contract suite as the real server (`tests/contract/test_client.py`). What it leaves out: age limits, the
two minutes of the duplicate window (ids count for ever), other accounts, and redelivery by time: what was not acknowledged comes
again at the next subscription.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

from nats.aio.client import Client as Connection
from nats.aio.msg import Msg
from nats.errors import ConnectionClosedError, NoRespondersError
from nats.errors import TimeoutError as NatsTimeout
from nats.js.api import PubAck
from nats.js.errors import NotFoundError

from builder.adapters.memory.streams import KeptMessage, MemoryConsumer, MemoryPull, MemoryStream, matching

MAX_PAYLOAD = 8 * 1024 * 1024
"""As the embedded server and the chart have it."""
ACK_PREFIX, NEXT_PREFIX = "$JS.ACK.", "$JS.API.CONSUMER.MSG.NEXT."

Callback = Callable[[Msg], Awaitable[None]]


class MemorySubscription:
    """A plain subscription."""

    def __init__(self, broker: "MemoryBroker", subject: str, callback: Callback | None) -> None:
        self.subject = subject
        self._broker = broker
        self._callback = callback
        self._messages: asyncio.Queue[Msg] = asyncio.Queue()

    async def put(self, message: Msg) -> None:
        """Hand a message over."""
        if self._callback:
            await self._callback(message)
        else:
            self._messages.put_nowait(message)

    async def next_msg(self, timeout: float | None = 1.0) -> Msg:
        """The next message. Raises nats-py's TimeoutError."""
        try:
            async with asyncio.timeout(timeout):
                return await self._messages.get()
        except TimeoutError as error:
            raise NatsTimeout from error

    async def unsubscribe(self) -> None:
        """End it."""
        with suppress(ValueError):
            self._broker.subscriptions.remove(self)

    drain = unsubscribe


class MemoryBroker:
    """Connection and JetStream in one; `connection` is what nats-py calls a client."""

    max_payload = MAX_PAYLOAD
    is_connected = True

    def __init__(self, *streams: MemoryStream) -> None:
        self.is_closed = False
        self.subscriptions: list[MemorySubscription] = []
        self._streams = {stream.name: stream for stream in streams}
        self._consumers: dict[tuple[str, str], MemoryConsumer] = {}
        self._waiting: deque[asyncio.Event] = deque()
        self._numbers = count(1)
        self._requests: dict[str, tuple[MemoryConsumer, int]] = {}
        """Reply subject → consumer, and how many messages it takes."""
        self.stats = {"reconnects": 0}
        self.stored: Callable[[KeptMessage, MemoryStream], None] = lambda _message, _stream: None
        """Called with each kept message."""

    @property
    def connection(self) -> Connection:
        """This broker as nats-py's client."""
        return cast("Connection", self)

    def jetstream(self) -> "MemoryBroker":
        """JetStream is on the same object: no name means two things."""
        return self

    async def flush(self) -> None:
        """Nothing is under way."""

    async def close(self) -> None:
        """End every subscription and every wait."""
        self.is_closed = True
        self._wake()

    def check_open(self) -> None:
        """Raises nats-py's ConnectionClosedError."""
        if self.is_closed:
            raise ConnectionClosedError

    def new_inbox(self) -> str:
        """A subject of its own."""
        return f"_INBOX.{next(self._numbers)}"

    async def subscribe(
        self,
        subject: str,
        queue: str = "",  # noqa: ARG002 - one member a queue
        cb: Callback | None = None,
        **limits: int,  # noqa: ARG002 - memory has none
    ) -> MemorySubscription:
        """A plain subscription."""
        self.check_open()
        subscription = MemorySubscription(self, subject, cb)
        self.subscriptions.append(subscription)
        return subscription

    async def request(self, subject: str, payload: bytes = b"", timeout: float = 0.5) -> Msg:
        """Raises nats-py's errors."""
        if not any(matching(each.subject, subject) for each in self.subscriptions):
            raise NoRespondersError
        inbox = await self.subscribe(self.new_inbox())
        try:
            await self._deliver(subject, payload, None, inbox.subject)
            return await inbox.next_msg(timeout)
        finally:
            await inbox.unsubscribe()

    async def publish(
        self,
        subject: str,
        payload: bytes = b"",
        timeout: float | None = None,  # noqa: ARG002 - nats-py's
        stream: str | None = None,
        headers: dict[str, str] | None = None,
        reply: str = "",
    ) -> PubAck:
        """Also into the stream when one is named; an acknowledgement settles its message."""
        self.check_open()
        if subject.startswith(NEXT_PREFIX):
            _, name, consumer = subject.rsplit(".", 2)
            self._requests[reply] = (self._consumers[name, consumer], json.loads(payload)["batch"])
            await self._hand_out()
        if subject.startswith(ACK_PREFIX):
            _, _, name, consumer, _, sequence, *_ = subject.split(".")
            self._consumers[name, consumer].settle(int(sequence), payload)
            await self._hand_out()
        await self._deliver(subject, payload, headers, "")
        if stream is None:
            return PubAck(stream="", seq=0)
        there = self.stream(stream)
        sequence_kept, is_duplicate = there.add(subject, payload, headers)
        if not is_duplicate:
            self.stored(there.get(sequence_kept, None, onwards=False), there)
            self._wake()
            await self._hand_out()
        return PubAck(stream=stream, seq=sequence_kept, duplicate=is_duplicate)

    def stream(self, name: str) -> MemoryStream:
        """The stream of this name. Raises `NotFoundError`."""
        if name not in self._streams:
            raise NotFoundError(code=404, description="stream not found")
        return self._streams[name]

    async def stream_info(self, name: str) -> Any:
        """Under nats-py's names."""
        self.check_open()
        stream, sequences = self.stream(name), self.stream(name).sequences
        state = SimpleNamespace(
            messages=len(sequences), first_seq=min(sequences, default=stream.last_seq + 1), last_seq=stream.last_seq
        )  # fmt: skip
        return SimpleNamespace(state=state, created=stream.created)

    async def get_msg(
        self,
        stream_name: str,
        seq: int | None = None,
        subject: str | None = None,
        direct: bool | None = False,  # noqa: ARG002 - nats-py's
        next: bool | None = False,  # noqa: A002 - nats-py's
    ) -> KeptMessage:
        """One message. Raises `NotFoundError`."""
        self.check_open()
        return self.stream(stream_name).get(seq, subject, onwards=bool(next))

    async def get_last_msg(self, stream_name: str, subject: str, direct: bool | None = False) -> KeptMessage:  # noqa: ARG002 - nats-py's
        """The last message of a subject. Raises `NotFoundError`."""
        self.check_open()
        return self.stream(stream_name).get(None, subject, onwards=False)

    async def delete_msg(self, stream_name: str, seq: int) -> bool:
        """Delete a message. Raises `NotFoundError`."""
        return self.stream(stream_name).delete(seq)

    async def pull_subscribe(self, subject: str, stream: str = "", config: Any = None) -> MemoryPull:
        """Without a durable."""
        name = f"ephemeral-{next(self._numbers)}"
        self._consumers[stream, name] = MemoryConsumer(name, self.stream(stream), subject, config)
        return await self.pull_subscribe_bind(name, stream)

    async def pull_subscribe_bind(self, durable: str, stream: str) -> MemoryPull:
        """Unacknowledged messages come again."""
        self.check_open()
        self._consumers[stream, durable].redeliver()
        return MemoryPull(self, self._consumers[stream, durable])

    async def add_consumer(self, stream: str, config: Any) -> None:
        """Make or change a durable."""
        name = config.durable_name
        new = MemoryConsumer(name, self.stream(stream), config.filter_subject, config)
        self._consumers.setdefault((stream, name), new).config = config

    async def consumer_info(self, stream: str, name: str) -> Any:
        """Raises `NotFoundError`."""
        if (stream, name) not in self._consumers:
            raise NotFoundError
        return await MemoryPull(self, self._consumers[stream, name]).consumer_info()

    async def change(self, seconds: float) -> None:
        """Until something is published. Raises nats-py's TimeoutError."""
        event = asyncio.Event()
        self._waiting.append(event)
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError as error:
            raise NatsTimeout from error
        finally:
            with suppress(ValueError):
                self._waiting.remove(event)

    def message(self, consumer: MemoryConsumer, message: KeptMessage, delivered: int, number: int) -> Msg:
        """With an acknowledgement address as a server's."""
        nanoseconds = int((message.time - datetime.fromtimestamp(0, UTC)).total_seconds() * 1_000_000) * 1000
        reply = f"{ACK_PREFIX}{consumer.stream.name}.{consumer.name}.{delivered}.{message.seq}.{number}.{nanoseconds}.0"
        return Msg(self.connection, subject=message.subject, reply=reply, data=message.data, headers=message.headers)

    async def _deliver(self, subject: str, payload: bytes, headers: dict[str, str] | None, reply: str) -> None:
        for subscription in [each for each in self.subscriptions if matching(each.subject, subject)]:
            await subscription.put(Msg(self.connection, subject=subject, reply=reply, data=payload, headers=headers))

    async def _hand_out(self) -> None:
        """An open request whose asker has gone is dropped."""
        for reply in list(self._requests):
            there = [each for each in self.subscriptions if matching(each.subject, reply)]
            while there and (request := self._requests.get(reply)) and (delivery := request[0].take()) is not None:
                consumer, batch = request
                self._requests[reply] = (consumer, batch - 1)
                if batch == 1:
                    del self._requests[reply]
                await there[0].put(self.message(consumer, *delivery, consumer.delivered))
            if not there:
                self._requests.pop(reply, None)

    def _wake(self) -> None:
        for event in self._waiting:
            event.set()
