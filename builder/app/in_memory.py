"""Service and broker in one process without files, for tests of agents."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from nats.js import JetStreamContext
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource
from typing_extensions import override

from builder.adapters.memory.broker import MemoryBroker
from builder.adapters.memory.delivery import MemoryDelivery
from builder.adapters.memory.streams import KeptMessage, MemoryStream
from builder.adapters.nats.durables import NatsDurables
from builder.adapters.nats.publisher import NatsPublisher, NatsSender
from builder.adapters.nats.requests import answering
from builder.adapters.nats.stream import NatsArchive, NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS
from builder.app.broker import IN_MEMORY, location
from builder.app.components import open_components
from builder.app.config import template_folders
from builder.app.line import HEADER_BYTES, Broker, handlers_of, open_line
from builder.app.reload import Reloader
from builder.app.settings import EmbeddingSettings, Settings, WorkerSettings
from builder.worker.jobs import Observer
from builder.worker.loop import Worker
from builder.worker.requests import JsonHandler

INCARNATION = 1
HEARTBEAT_SECONDS = 10.0


class _OwnSettings(Settings):
    """Settings that no environment variable changes."""

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


class _Deliveries:
    def __init__(self) -> None:
        self.worker: Worker | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, message: KeptMessage, stream: MemoryStream) -> None:
        if stream.name == BREADCRUMBS and self.worker is not None:
            delivery = MemoryDelivery(message, INCARNATION, partial(self.take, message, stream))
            task = asyncio.create_task(self.worker.process(delivery))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        self.worker = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def open_in_memory(templates: Path | None, engine: Literal["none", "onnx"]) -> AsyncIterator[MemoryBroker]:
    """A broker with a whole service. templates: over the bundled ones. Raises `Misconfigured`.

    Requests are answered after all earlier publications are remembered. Tool calls do not time out; summaries are made on
    request.
    """
    settings = _OwnSettings(
        templates_dir=templates, embedding=EmbeddingSettings(engine=engine), worker=WorkerSettings(purge_hours=0)
    )
    streams = (
        MemoryStream(name=BREADCRUMBS, prefix="breadcrumbs"),
        MemoryStream(name=CONTEXTS, prefix="contexts", one_a_subject=True),
        MemoryStream(name=DEADLETTERS, prefix="deadletters", one_a_subject=True),
    )
    broker, deliveries = MemoryBroker(*streams), _Deliveries()
    async with AsyncExitStack() as stack:
        core = await stack.enter_async_context(open_components(settings, location(IN_MEMORY)))
        reloading, ports = Reloader(template_folders(settings), core), _parts_of(broker)
        line = await stack.enter_async_context(open_line(reloading, settings, ports, Observer()))
        deliveries.worker, broker.stored = line.worker, deliveries.take
        await stack.enter_async_context(answering(broker.connection, _in_turn(handlers_of(line.host), deliveries)))
        stack.push_async_callback(broker.close)
        stack.push_async_callback(deliveries.close)
        yield broker


class _Durables(NatsDurables):
    @override
    async def listening(self, workspace: str, consumer: str) -> int:
        """Who listens in one process is known to it."""
        return 1


def _parts_of(broker: MemoryBroker) -> Broker:
    js = cast("JetStreamContext", broker)
    stream = NatsStream(js, lambda: INCARNATION)
    return Broker(
        connection=broker.connection,
        stream=stream,
        archive=NatsArchive(js, lambda: INCARNATION),
        publisher=NatsPublisher(broker.connection, broker.max_payload),
        sender=NatsSender(js, stream),
        durables=_Durables(js),
        max_event_bytes=broker.max_payload - HEADER_BYTES,
        heartbeat=HEARTBEAT_SECONDS,
    )


def _in_turn(handlers: Mapping[str, JsonHandler], deliveries: _Deliveries) -> Mapping[str, JsonHandler]:
    async def answer(handler: JsonHandler, workspace: str, data: bytes) -> dict[str, Any]:
        await deliveries.settle()
        return await handler(workspace, data)

    return {name: partial(answer, handler) for name, handler in handlers.items()}
