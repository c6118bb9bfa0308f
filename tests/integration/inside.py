"""The real service inside the test's own process, so that a single part of it can fail on purpose.

And a worker of which the test chooses the clock and makes the deliveries.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext
from typing_extensions import override

from builder.adapters.embedding import CachedEmbedder
from builder.adapters.embedding.engine import Engine
from builder.adapters.nats.durables import NatsDurables
from builder.adapters.nats.publisher import NatsSender
from builder.adapters.nats.stream import NatsArchive, NatsStream
from builder.adapters.nats.topology import ensure_streams
from builder.app.broker import open_bus, topology
from builder.app.components import PARTS, Components, Parts, open_components
from builder.app.config import template_folders
from builder.app.line import Broker, open_line
from builder.app.reload import Reloader
from builder.app.service import Service, open_service, serving
from builder.app.settings import HttpSettings, NatsSettings, Settings, WorkerSettings
from builder.domain.delivery import DeliveryOutcome
from builder.worker.jobs import Observer, Pace, Pauses
from builder.worker.loop import Worker
from tests.ports import HandDelivery

SHORT_PACE = Pace(rest=0.01, pauses=Pauses(first=0.01, longest=0.05))
"""Pauses that a test can wait for."""


def settings(data: Path, servers: str = "", **worker: Any) -> Settings:
    """Settings of a service with its own folder, on free ports."""
    return Settings(
        data_dir=data, nats=NatsSettings(servers=servers, port=-1), http=HttpSettings(port=0), worker=WorkerSettings(**worker)
    )


@asynccontextmanager
async def service_here(config: Settings, parts: Parts = PARTS) -> AsyncIterator[Service]:
    """The whole service, subscribed."""
    async with open_service(config, parts) as service, serving(service):
        yield service


def engine_of(engine: Callable[[Path], Engine], **others: Any) -> Parts:
    """Parts with this engine. engine: is given the folder of its model. others: more parts."""

    def opened(_engine: str, model: str, folder: Path, size: int, *_: Any) -> CachedEmbedder:
        return CachedEmbedder(engine(folder / model), size)

    return Parts(embedder=opened, pace=SHORT_PACE, **others)


class Outcomes(Observer):
    def __init__(self) -> None:
        self.all: list[DeliveryOutcome] = []

    @override
    def delivered(self, outcome: DeliveryOutcome) -> None:
        self.all.append(outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A worker without a subscription, on a real broker and a real store. outcomes: of what it processed."""

    worker: Worker
    core: Components
    js: JetStreamContext
    stream: NatsStream
    outcomes: list[DeliveryOutcome]

    async def delivery(self, sequence: int) -> HandDelivery:
        """The breadcrumb at a sequence, handed over."""
        arrival = await self.stream.get(sequence)
        assert arrival is not None
        return HandDelivery(arrival)

    async def process(self, sequence: int) -> HandDelivery:
        """Hand the breadcrumb at a sequence over and wait until it is settled."""
        delivery = await self.delivery(sequence)
        await self.worker.process(delivery)
        return delivery


@asynccontextmanager
async def worker_here(
    config: Settings, parts: Parts = PARTS, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> AsyncIterator[Bench]:
    """A worker as the service makes it, but with this clock and without a subscription."""
    async with AsyncExitStack() as stack:
        core = await stack.enter_async_context(open_components(config, parts=parts))
        _, connection, _ = await stack.enter_async_context(open_bus(config))
        js = connection.jetstream()
        incarnation = await ensure_streams(js, topology(config))
        stream, outcomes = NatsStream(js, lambda: incarnation), Outcomes()
        broker = Broker(
            connection=connection,
            stream=stream,
            archive=NatsArchive(js, lambda: incarnation),
            publisher=parts.publisher(connection, connection.max_payload, config.installation),
            sender=NatsSender(js, stream),
            durables=NatsDurables(js),
            max_event_bytes=connection.max_payload,
            heartbeat=10,
        )
        reloading = Reloader(template_folders(config), core)
        line = await stack.enter_async_context(open_line(reloading, config, broker, outcomes, parts))
        line.log.now = now
        yield Bench(worker=line.worker, core=core, js=js, stream=stream, outcomes=outcomes.all)
