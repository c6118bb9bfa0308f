"""Streams of a broker in memory."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from nats.aio.msg import Msg
from nats.errors import TimeoutError as NatsTimeout
from nats.js.api import AckPolicy, DeliverPolicy
from nats.js.errors import BadRequestError, NotFoundError, ServiceUnavailableError

MESSAGE_ID, EXPECTED_LAST = "Nats-Msg-Id", "Nats-Expected-Last-Subject-Sequence"
WRONG_LAST_SEQUENCE, STORE_FAILED = 10071, 10077
"""JetStream's codes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMessage:
    """A message of a stream. The names are those of nats-py's `RawStreamMsg`."""

    subject: str
    seq: int
    data: bytes
    headers: dict[str, str] | None
    time: datetime


@dataclass(slots=True, kw_only=True)
class MemoryStream:
    """One stream."""

    name: str
    prefix: str
    one_a_subject: bool = False
    """A second message on a subject is refused."""
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    last_seq: int = 0
    _messages: dict[int, KeptMessage] = field(default_factory=dict)
    _ids: dict[str, int] = field(default_factory=dict)

    def add(self, subject: str, data: bytes, headers: dict[str, str] | None) -> tuple[int, bool]:
        """Sequence, and whether it came before. Raises nats-py's errors."""
        identity = (headers or {}).get(MESSAGE_ID)
        if identity in self._ids:
            return self._ids[identity], True
        last = next((message.seq for message in reversed(self._messages.values()) if message.subject == subject), 0)
        expected = (headers or {}).get(EXPECTED_LAST)
        if expected is not None and int(expected) != last:
            raise BadRequestError(code=400, err_code=WRONG_LAST_SEQUENCE, description=f"wrong last sequence: {last}")
        if last and self.one_a_subject:
            raise ServiceUnavailableError(
                code=503, err_code=STORE_FAILED, description="maximum messages per subject exceeded"
            )  # fmt: skip
        self.last_seq += 1
        self._messages[self.last_seq] = KeptMessage(
            subject=subject, seq=self.last_seq, data=data, headers=headers, time=datetime.now(UTC)
        )  # fmt: skip
        if identity is not None:
            self._ids[identity] = self.last_seq
        return self.last_seq, False

    def get(self, seq: int | None, subject: str | None, *, onwards: bool) -> KeptMessage:
        """By sequence, the first of a subject from it onwards, or the last. Raises `NotFoundError`."""
        matches: Iterator[KeptMessage]
        if seq is None:
            matches = (message for message in reversed(self._messages.values()) if matching(subject or ">", message.subject))
        elif onwards:
            matches = self.matching(subject or ">", seq)
        else:
            matches = iter([self._messages[seq]] if seq in self._messages else [])
        message = next(matches, None)
        if message is None:
            raise NotFoundError(code=404, description="no message found")
        return message

    def matching(self, subject: str, start: int) -> Iterator[KeptMessage]:
        """From a sequence onwards."""
        return (each for each in list(self._messages.values()) if each.seq >= start and matching(subject, each.subject))

    def delete(self, seq: int) -> bool:
        """Delete a message. Raises `NotFoundError`."""
        if self._messages.pop(seq, None) is None:
            raise NotFoundError(code=404, description="no message found")
        return True

    @property
    def sequences(self) -> list[int]:
        """All, in order."""
        return list(self._messages)


def matching(pattern: str, subject: str) -> bool:
    """Wildcards are `*` and `>`."""
    patterns, tokens = pattern.split("."), subject.split(".")
    for number, part in enumerate(patterns):
        if part == ">":
            return len(tokens) > number
        if number >= len(tokens) or part not in ("*", tokens[number]):
            return False
    return len(patterns) == len(tokens)


if TYPE_CHECKING:
    from builder.adapters.memory.broker import MemoryBroker

PROGRESS, NAK = b"+WPI", b"-NAK"


class MemoryConsumer:
    """A subscription's position in its stream."""

    def __init__(self, name: str, stream: MemoryStream, subject: str, config: Any) -> None:
        """config: nats-py's `ConsumerConfig`."""
        self.name = name
        self.stream = stream
        self.subject = subject
        self.delivered = 0
        self.config = config
        self._acknowledges = config.ack_policy != AckPolicy.NONE
        self._next = self._start(config)
        self._open: dict[int, int] = {}
        """Sequence of an unsettled message → times it was delivered."""
        self._again: list[int] = []

    def _start(self, config: Any) -> int:
        match config.deliver_policy:
            case DeliverPolicy.NEW:
                return self.stream.last_seq + 1
            case DeliverPolicy.BY_START_SEQUENCE:
                return int(config.opt_start_seq)
            case DeliverPolicy.BY_START_TIME:
                later = (each.seq for each in self.stream.matching(">", 1) if each.time >= config.opt_start_time)
                return next(later, self.stream.last_seq + 1)
            case _:
                return 1

    @property
    def pending(self) -> int:
        """Messages that were not delivered yet."""
        return len(self._again) + sum(1 for _ in self.stream.matching(self.subject, self._next))

    def take(self) -> tuple[KeptMessage, int] | None:
        """The next message, and times it was delivered; None = there is none."""
        while self._again:
            sequence = self._again.pop(0)
            message = next(iter(self.stream.matching(self.subject, sequence)), None)
            if message is not None and message.seq == sequence:
                return message, self._note(message)
        message = next(iter(self.stream.matching(self.subject, self._next)), None)
        if message is None:
            return None
        self._next = message.seq + 1
        return message, self._note(message)

    def settle(self, sequence: int, how: bytes) -> None:
        """A nak brings the message again, a sign of life changes nothing."""
        if how.startswith(NAK):
            self._again.append(sequence)
        elif how != PROGRESS:
            self._open.pop(sequence, None)

    def redeliver(self) -> None:
        """Bring again what is not settled."""
        self._again = sorted({*self._again, *self._open})

    def _note(self, message: KeptMessage) -> int:
        self.delivered += 1
        times = self._open.get(message.seq, 0) + 1
        if self._acknowledges:
            self._open[message.seq] = times
        return times


class MemoryPull:
    """A pull subscription."""

    def __init__(self, broker: "MemoryBroker", consumer: MemoryConsumer) -> None:
        self._broker = broker
        self._consumer = consumer

    async def fetch(self, batch: int = 1, timeout: float = 5.0) -> list[Msg]:
        """At least one message. Raises nats-py's errors."""
        deadline = asyncio.get_running_loop().time() + timeout
        messages: list[Msg] = []
        while not messages:
            self._broker.check_open()
            while len(messages) < batch and (delivery := self._consumer.take()) is not None:
                messages.append(self._broker.message(self._consumer, *delivery, self._consumer.delivered))
            if not messages:
                remaining = deadline - asyncio.get_running_loop().time()
                if remaining <= 0:
                    raise NatsTimeout
                await self._broker.change(remaining)
        return messages

    async def consumer_info(self) -> Any:
        """Under nats-py's names."""
        consumer = self._consumer
        return SimpleNamespace(
            name=consumer.name,
            config=replace(consumer.config, filter_subject=consumer.subject, durable_name=consumer.name),
            delivered=SimpleNamespace(consumer_seq=consumer.delivered),
            num_pending=consumer.pending,
        )

    async def unsubscribe(self) -> None:
        """A durable goes on at its next subscription."""
