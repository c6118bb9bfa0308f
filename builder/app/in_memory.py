"""Service and broker in one process and without files: real decoding, worker and builder over memory, for tests of agents."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from nats.js import JetStreamContext
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource
from typing_extensions import override

from builder.adapters.memory.broker import MemoryBroker, MemoryDelivery
from builder.adapters.memory.streams import KeptMessage, MemoryStream
from builder.adapters.nats.stream import NatsArchive
from builder.adapters.nats.publisher import NatsPublisher, NatsSender
from builder.adapters.nats.requests import answering
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, CONTEXTS_MAX_AGE, DEADLETTERS
from builder.app.components import Components, open_components
from builder.app.operations.explanations import Explanations
from builder.app.operations.replays import Replays
from builder.app.operations.summaries import compact_on_request, open_summarising
from builder.app.settings import Embedding, Settings
from builder.app.stores import IN_MEMORY, location
from builder.domain.breadcrumb import Place
from builder.publish.event import encode
from builder.remember.decode import decode
from builder.worker.catch_up import CatchUp
from builder.worker.consumers import Consumers, DefinitionReader, Verb
from builder.worker.erasure import Erasure
from builder.worker.loop import Attempts, Rules, Worker
from builder.worker.processor import Processor
from builder.worker.publishing import ContextPublisher, DeadLetters
from builder.worker.quiet_time import QuietTime
from builder.worker.request_handlers import Contexts, Failures, Lookup, RequestHandlers, TombstonePublisher, stay
from builder.worker.summary_scheduler import Sources
from builder.worker.turns import Turns

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
    """Hands each breadcrumb to the worker as soon as the stream has it."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, message: KeptMessage, stream: MemoryStream) -> None:
        """Begin, so that it keeps its turn in its session."""
        if stream.name == BREADCRUMBS and self.worker is not None:
            delivery = MemoryDelivery(message, INCARNATION, partial(self.take, message, stream))
            task = asyncio.create_task(self.worker.process(delivery))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Until the worker has nothing to do."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        """End what is in work."""
        self.worker = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def open_in_memory(templates: Path | None, engine: Literal["none", "onnx"]) -> AsyncIterator[MemoryBroker]:
    """A broker that a whole service listens to. Raises `Misconfigured`.

    templates: laid over the bundled ones. A request is answered when all that was published before it is remembered. Tool calls
    do not time out, and sessions are summarised on request only.
    """
    settings = _OwnSettings(templates_dir=templates, embedding=Embedding(engine=engine))
    streams = (
        MemoryStream(name=BREADCRUMBS, prefix="breadcrumbs"),
        MemoryStream(name=CONTEXTS, prefix="contexts", one_a_subject=True),
        MemoryStream(name=DEADLETTERS, prefix="deadletters", one_a_subject=True),
    )
    broker, deliveries = MemoryBroker(*streams), _Deliveries()
    async with AsyncExitStack() as stack:
        core = await stack.enter_async_context(open_components(settings, location(IN_MEMORY)))
        deliveries.worker, verbs = _service(core, broker, settings)
        broker.stored = deliveries.take
        await stack.enter_async_context(answering(broker.connection, _in_turn(verbs, deliveries)))
        stack.push_async_callback(broker.close)
        stack.push_async_callback(deliveries.close)
        yield broker


def _service(core: Components, broker: MemoryBroker, settings: Settings) -> tuple[Worker, Mapping[str, Verb]]:
    """The worker and the handlers of requests, as `open_service` has them."""
    js, store = cast("JetStreamContext", broker), core.store
    stream, archive = NatsStream(js, lambda: INCARNATION), NatsArchive(js, lambda: INCARNATION)
    publisher, sender = NatsPublisher(broker.connection, broker.max_payload), NatsSender(js, stream)
    in_work: set[Place] = set()
    attempts = settings.worker.max_attempts
    read = partial(decode, lifetimes=settings.lifetimes)
    turns = Turns()
    catch_up = CatchUp(stream, store, store, publisher, read, turns.around(core.builder.remember), attempts, in_work)
    definitions = DefinitionReader(stream, stream.last, store, catch_up, read)

    def now() -> datetime:
        return datetime.now(UTC)

    consumers = Consumers(lambda: core.builder, definitions, stream.last, now)

    def drop(workspace: str, ids: frozenset[str]) -> int:
        definitions.drop(workspace)
        return core.drop(workspace, ids)

    erasure = Erasure(catch_up, store, store, archive, drop)
    tombstones = TombstonePublisher(sender, read, erasure, store, archive)
    sources = Sources(view=core.builder.recaller.session_view, walk=catch_up.walk, last=stream.last)
    summarising = open_summarising(
        core, sources, sender, None, lambda: False, lambda _by: None, settings.worker.max_body_bytes, consumers.in_memory
    )
    requests = RequestHandlers(
        Lookup(store, now), Contexts(store, archive), store, store, tombstones,
        partial(compact_on_request, lambda: core, summarising), consumers,
    )  # fmt: skip
    contexts = ContextPublisher(publisher, partial(encode, max_bytes=broker.max_payload))
    explanations = Explanations(Replays(lambda: core, archive, stay, consumers.before, stream.last, broker.max_payload), store)
    quiet_time = QuietTime(stream, stream.last, read, now, store.facts)
    processor = Processor(
        lambda: core.builder, catch_up, contexts, read, tombstones.erase, now, CONTEXTS_MAX_AGE, quiet_time, turns,
        definitions.before,
    )  # fmt: skip
    worker = Worker(
        processor, Attempts(store, in_work, attempts), DeadLetters(publisher, archive), lambda _outcome: None,
        Rules(heartbeat=HEARTBEAT_SECONDS),
    )  # fmt: skip
    return worker, {**requests.verbs, **explanations.verbs, **Failures(store, publisher).verbs}


def _in_turn(verbs: Mapping[str, Verb], deliveries: _Deliveries) -> Mapping[str, Verb]:
    async def answer(verb: Verb, workspace: str, data: bytes) -> dict[str, Any]:
        await deliveries.settle()
        return await verb(workspace, data)

    return {name: partial(answer, verb) for name, verb in verbs.items()}
