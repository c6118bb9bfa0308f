"""The running service: settings → opened parts → builder → worker. Reads like a parts list; one exit stack closes everything."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from nats.js import JetStreamContext
from prometheus_client import CollectorRegistry

from builder.adapters.embedding import CachedEmbedder
from builder.adapters.http import Check, routes
from builder.adapters.http.server import serve
from builder.adapters.nats.archive import NatsArchive
from builder.adapters.nats.calls import NatsCalls
from builder.adapters.nats.inbox import NatsInbox
from builder.adapters.nats.probe import Probe
from builder.adapters.nats.publisher import NatsPublisher
from builder.adapters.nats.requests import answering
from builder.adapters.nats.sender import NatsSender
from builder.adapters.nats.server import EmbeddedServer
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS_MAX_AGE, DURABLE
from builder.adapters.nats.watchdog import Watchdog
from builder.app.broker import connection_arguments, open_bus, topology
from builder.app.components import Components, open_core
from builder.app.config import template_folders
from builder.app.disk import file_bytes, free_bytes, store_state
from builder.app.operations.summaries import open_endpoint, open_summarising
from builder.app.reload import Reloader
from builder.app.settings import Settings
from builder.app.telemetry import Metrics
from builder.domain.breadcrumb import Place
from builder.domain.delivery_outcome import DeliveryOutcome
from builder.domain.errors import Misconfigured, Rejected, Unavailable
from builder.publish.event import encode
from builder.remember.decode import decode
from builder.wire.subjects import parse_breadcrumb_subject
from builder.worker.backfill import Backfill
from builder.worker.catch_up import CatchUp
from builder.worker.erasure import Erasure
from builder.worker.loop import Rules, Worker
from builder.worker.request_handlers import Contexts, Lookup, RequestHandlers, TombstonePublisher
from builder.worker.summary_scheduler import Sources, SummaryScheduler
from builder.worker.tool_timeouts import TimeoutRules, ToolTimeouts

WATCH_SECONDS = 2.0
SWITCH_SECONDS = 0.0002
PATIENCE = 3.0
"""Seconds that the start waits for the engine; what comes before it is loaded is built by words alone and filled in later."""
CLOCK_MARGIN = timedelta(minutes=10)
"""Clocks differ and builds take time: a trigger this near to the age at which its context is forgotten is not answered."""
REMEMBERED = frozenset({"remembered", "published", "expired"})
"""Outcomes after which the store holds the breadcrumb."""
HEADERS = 1024
"""Bytes of what the broker takes that are left to a context's headers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The running service. url: of the broker. application: ASGI; it starts and stops the subscription."""

    reloading: Reloader
    url: str
    js: JetStreamContext
    summarising: SummaryScheduler
    application: Any

    @property
    def core(self) -> Components:
        """That of now: with the profiles and templates in force."""
        return self.reloading.core


@asynccontextmanager
async def open_service(settings: Settings) -> AsyncIterator[Service]:
    """Everything, subscribed once the ASGI application has started. Raises `Misconfigured` and `Unavailable`."""
    async with AsyncExitStack() as stack:
        metrics = Metrics(CollectorRegistry())
        core = await stack.enter_async_context(open_core(settings, patience=PATIENCE, failed=metrics.template_failed))
        url, connection, server = await stack.enter_async_context(open_bus(settings))
        js = connection.jetstream()
        reloading = Reloader(template_folders(settings), core, metrics.reload_failures.inc, metrics.template_failed)
        inbox: NatsInbox
        probe = Probe(js)
        watchdog = Watchdog(js, topology(settings), core.store, lambda: inbox.rebind(), probe.measure, WATCH_SECONDS)  # noqa: PLW0108 - made below
        ack_wait = await watchdog.prepare()
        stream = NatsStream(js, lambda: watchdog.incarnation)
        publisher = NatsPublisher(connection, connection.max_payload)
        read = partial(decode, max_bytes=settings.worker.max_body_bytes, lifetimes=settings.lifetimes)
        in_work: set[Place] = set()
        catch_up = CatchUp(
            stream, core.store, core.store, publisher, read, core.builder.remember, settings.worker.max_attempts, in_work
        )
        archive = NatsArchive(js, lambda: watchdog.incarnation)
        forgetting = Erasure(catch_up, core.store, core.store, archive, reloading.drop)
        sender = NatsSender(js, stream)
        removal = TombstonePublisher(sender, read, forgetting, core.store, archive)
        sources = Sources(view=core.builder.recaller.session_view, walk=catch_up.walk, last=stream.last)
        endpoint = await stack.enter_async_context(open_endpoint(settings, core.helpers.count))
        summarising = open_summarising(
            core, sources, sender, endpoint, lambda: bool(in_work), metrics.summarised, settings.worker.max_body_bytes
        )
        compacting = partial(_compact, reloading, summarising)
        lookup, contexts = Lookup(core.store, lambda: datetime.now(UTC)), Contexts(core.store, archive)
        requests = RequestHandlers(lookup, contexts, core.store, core.store, removal, compacting, lambda: reloading.core.profiles)
        worker = Worker(
            reloading.builder, catch_up, core.store, publisher, read, partial(encode, max_bytes=connection.max_payload - HEADERS),
            lambda: datetime.now(UTC), partial(_observe, metrics, summarising, lambda: watchdog.incarnation),
            Rules(max_attempts=settings.worker.max_attempts, max_age=CONTEXTS_MAX_AGE - CLOCK_MARGIN, heartbeat=ack_wait / 3),
            in_work, removal.settle, archive,
        )  # fmt: skip
        inbox = NatsInbox(
            connection_arguments(url, settings), settings.worker.batch, settings.worker.graceful_seconds, metrics.registry,
            worker.process, lambda: watchdog.incarnation,
        )  # fmt: skip
        timeouts = ToolTimeouts(
            TimeoutRules(
                call=timedelta(seconds=settings.worker.tool_timeout_seconds), max_age=CONTEXTS_MAX_AGE - CLOCK_MARGIN,
                heartbeat=ack_wait / 3,
            ),
            lambda: reloading.core.profiles, read, sources, sender, lambda: datetime.now(UTC),
        )  # fmt: skip
        calls = NatsCalls(connection, topology(settings), timeouts, core.store, lambda: watchdog.incarnation)
        stack.push_async_callback(calls.close)
        filling = Backfill(core.store, core.builder.ingest.with_vectors, lambda: bool(in_work))
        needed: dict[str, Check] = {"store": core.store.check, "stream": watchdog.state}
        folder = settings.store_path.parent
        wanted: dict[str, Check] = {
            "model": partial(_model_state, core.embedder), "templates": reloading.state,
            "store_writes": partial(store_state, core.store, folder), "stream_writes": partial(_stream_writes, probe, server),
        }  # fmt: skip
        metrics.free.set_function(lambda: free_bytes(folder))
        metrics.store.set_function(lambda: file_bytes(settings.store_path))
        for name in probe.sizes:
            metrics.stream.labels(name).set_function(partial(_size, probe, name))
        metrics.lacking.set_function(lambda: filling.missing)
        metrics.pending.set_function(lambda: watchdog.pending)
        metrics.age.set_function(lambda: _age(watchdog.oldest))
        swapping = reloading.run(lambda renewed: summarising.take(renewed.profiles))
        beside = [asyncio.create_task(loop) for loop in (watchdog.run(), filling.run(), summarising.run(), swapping, calls.run())]
        for task in beside:
            stack.push_async_callback(_cancel, task)
        await stack.enter_async_context(answering(connection, requests.verbs))
        alive = partial(_alive, watchdog, beside)
        _stay_responsive()
        application = inbox.application(routes(alive, needed, wanted, metrics.registry))
        yield Service(reloading=reloading, url=url, js=js, summarising=summarising, application=application)


def _stay_responsive() -> None:
    """What the start has loaded is never garbage: a full collection that walks it stops everything for 70 ms.

    While a thread finds the words of a long text, the event loop gets its turn after 0.2 ms, not after five: each of some
    twenty waits of a context would cost as much.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_SECONDS)


def _observe(metrics: Metrics, summarising: SummaryScheduler, incarnation: Callable[[], int], processed: DeliveryOutcome) -> None:
    """Count a delivery, and let its session be summarised some time; an import waits until somebody goes on with the session."""
    metrics.observe(processed)
    if processed.outcome in REMEMBERED:
        address = parse_breadcrumb_subject(processed.subject)
        summarising.note(address.workspace, address.session, Place(incarnation(), processed.sequence), processed.replay)


async def _compact(
    reloading: Reloader, summarising: SummaryScheduler, workspace: str, session: str, profile: str, keep_user: bool
) -> dict[str, Any]:
    try:
        wanted = reloading.core.profile(profile)
    except Misconfigured as error:
        raise Rejected(str(error)) from error
    return asdict(await summarising.compact(workspace, session, wanted, keep_user))


async def unsettled(service: Service) -> int:
    """Breadcrumbs that wait or are in work."""
    info = await service.js.consumer_info(BREADCRUMBS, DURABLE)
    return (info.num_pending or 0) + (info.num_ack_pending or 0)


def _alive(watchdog: Watchdog, beside: list[asyncio.Task[None]]) -> bool:
    """A loop beside the worker ends by a bug only."""
    return watchdog.alive and not any(task.done() for task in beside)


async def _stream_writes(probe: Probe, server: EmbeddedServer | None) -> str:
    """What the embedded server writes of itself tells more than a probe, which goes into a stream of its own."""
    return (await server.state() if server else "") or await probe.state()


def _size(probe: Probe, stream: str) -> int:
    return probe.sizes[stream]


def _age(oldest: datetime | None) -> float:
    return (datetime.now(UTC) - oldest).total_seconds() if oldest else 0.0


async def _model_state(embedder: CachedEmbedder) -> str:
    try:
        await embedder.embed(f"ready at {datetime.now(UTC)}")  # a new text each time: the engine is asked, not its cache
    except Unavailable as error:
        return str(error)
    return ""


async def _cancel(task: asyncio.Task[None]) -> None:
    """Until it is done: Python 3.11's wait_for, inside nats-py, may drop a cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=0.1)


@asynccontextmanager
async def serving(service: Service, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
    """Serve while the block runs; gives the HTTP port. For the demo, the benchmarks and the tests."""
    stop, started = asyncio.Event(), asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(service.application, host, port, stop, started.set_result))
    try:
        await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        yield started.result()
    finally:
        stop.set()
        await task
