"""Who listens to contexts: the subscriptions on CONTEXTS, as JetStream accounts for them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from nats.js import JetStreamContext
from nats.js.api import ConsumerInfo

from builder.adapters.nats.errors import optional
from builder.adapters.nats.topology import CONTEXTS
from builder.wire.subjects import Installation, plain_subject

CONSUMER_TOKENS = 3
"""Tokens of a filter that names a consumer: the head, the workspace, the consumer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A durable, or what an agent without one has while it runs."""

    name: str
    subjects: tuple[str, ...]
    """Filters, without the installation's name."""
    is_durable: bool
    listening: int
    """Requests for the next context that are open now."""
    is_working: bool
    """A context was handed out so short a time ago that the broker does not yet give it to another process."""
    delivered: int
    """Contexts that were ever handed out, repetitions included."""
    waiting: int
    """Contexts that are not acknowledged."""
    since: datetime | None
    """Stream time of the oldest of them."""

    @property
    def is_silent(self) -> bool:
        """Contexts wait and nobody takes them. What belongs to no durable is lost with its process and waits for nobody."""
        return self.is_durable and bool(self.waiting) and not self.listening and not self.is_working

    def is_of(self, workspace: str, consumer: str) -> bool:
        """Whether a filter names the consumer, for this workspace or for all."""
        parts = (subject.split(".") for subject in self.subjects)
        return any(part[1] in (workspace, "*") and part[2] == consumer for part in parts if len(part) >= CONSUMER_TOKENS)

    def __str__(self) -> str:
        """How it is, in a sentence."""
        who = f"{self.listening} listen" if self.listening else "may be at work" if self.is_working else "nobody listens"
        wait = f"{self.waiting:,} wait" if self.waiting else "none waits"
        return f"{self.name}: {who}, {wait}" + (f" since {self.since:%Y-%m-%d %H:%M:%S}Z" if self.since else "")


async def read_subscriptions(js: JetStreamContext, installation: Installation, now: datetime) -> tuple[Subscription, ...]:
    """All that are durable, or whose process may be alive; none before the first start made the stream. Raises `Unavailable`."""
    stream, infos = installation.stream(CONTEXTS), list[ConsumerInfo]()
    # The server lists 256 at once.
    while page := await optional("listing subscriptions", js.consumers_info(stream, offset=len(infos))):
        infos += page
    subscriptions = [await _subscription(js, info, now) for info in infos]
    return tuple(each for each in subscriptions if each.is_durable or each.listening or each.is_working)


async def _subscription(js: JetStreamContext, info: ConsumerInfo, now: datetime) -> Subscription:
    filters = info.config.filter_subjects or [info.config.filter_subject or ">"]
    waiting, last = (info.num_pending or 0) + (info.num_ack_pending or 0), info.delivered.last_active if info.delivered else None
    return Subscription(
        name=info.name,
        subjects=tuple(map(plain_subject, filters)),
        is_durable=bool(info.config.durable_name),
        listening=(info.num_waiting or 0) + bool(info.push_bound),
        is_working=bool(info.num_ack_pending and last and now - last < timedelta(seconds=info.config.ack_wait or 0)),
        delivered=info.delivered.consumer_seq if info.delivered else 0,
        waiting=waiting,
        since=await _oldest(js, info, filters) if waiting else None,
    )


async def _oldest(js: JetStreamContext, info: ConsumerInfo, filters: list[str]) -> datetime | None:
    """Stream time of the first context that is not acknowledged; None when it has gone meanwhile."""
    first = (info.ack_floor.stream_seq if info.ack_floor else 0) + 1
    reads = (js.get_msg(info.stream_name, seq=first, subject=subject, next=True) for subject in filters)
    messages = [await optional("looking for the oldest context", read) for read in reads]
    return min((message.time.astimezone(UTC) for message in messages if message and message.time), default=None)
