"""Durables of agents on the stream of contexts. The service makes them, so an agent needs no right to make consumers."""

from dataclasses import replace
from datetime import UTC, datetime

from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from typing_extensions import override

from builder.adapters.nats.connection import optional, translated
from builder.adapters.nats.requests import read_subscriptions
from builder.adapters.nats.topology import CONTEXTS
from builder.connection.names import DEFAULT, Installation
from builder.domain.errors import Rejected
from builder.ports.contexts import Durables
from builder.wire.subjects import CONTEXTS as HEAD


class NatsDurables(Durables):
    """`Durables` on JetStream."""

    def __init__(self, js: JetStreamContext, installation: Installation = DEFAULT) -> None:
        self._js = js
        self._installation = installation
        self._stream = installation.stream(CONTEXTS)

    @override
    async def make(self, workspace: str, consumer: str, name: str, since: datetime | None, ack_wait: float) -> tuple[str, bool]:
        subject = self._installation.subject(f"{HEAD}.{workspace}.{consumer}.>")
        info = await optional(f"looking at the durable {name}", self._js.consumer_info(self._stream, name))
        if info is None:
            start = {"deliver_policy": DeliverPolicy.BY_START_TIME, "opt_start_time": since}
            config = ConsumerConfig(
                name=name, durable_name=name, filter_subject=subject, ack_policy=AckPolicy.EXPLICIT, ack_wait=ack_wait,
                max_deliver=-1,
                **(start if since else {"deliver_policy": DeliverPolicy.NEW}),
            )  # fmt: skip
        elif info.config.filter_subject != subject:
            theirs = info.config.filter_subject or ", ".join(info.config.filter_subjects or ()) or "everything"
            raise Rejected(f"the durable {name} hears {theirs}, wanted is {subject}; take another name, or delete it")
        elif info.config.ack_wait == ack_wait:
            return self._stream, False
        else:
            config = replace(info.config, name=name, ack_wait=ack_wait)
        with translated(f"making the durable {name}"):
            await self._js.add_consumer(self._stream, config)
        return self._stream, info is None

    @override
    async def listening(self, workspace: str, consumer: str) -> int:
        name = f"{workspace}={consumer}"
        info = await optional(f"looking at the durable {name}", self._js.consumer_info(self._stream, name))
        if info is not None and info.num_waiting:
            return int(info.num_waiting)
        there = await read_subscriptions(self._js, self._installation, datetime.now(UTC))
        return sum(max(each.listening, int(each.is_working)) for each in there if each.is_of(workspace, consumer))
