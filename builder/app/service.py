"""The running service: settings → opened parts → builder → worker. One exit stack closes everything."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from nats.js import JetStreamContext
from prometheus_client import CollectorRegistry

from builder.adapters.http import routes
from builder.adapters.http.server import serve
from builder.adapters.nats.archive import NatsArchive
from builder.adapters.nats.inbox import BackgroundInbox, NatsInbox
from builder.adapters.nats.probe import Probe
from builder.adapters.nats.publisher import NatsSender
from builder.adapters.nats.purge_lock import PurgeLock
from builder.adapters.nats.requests import answering
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS_MAX_AGE, all_breadcrumbs, replayed_breadcrumbs, tool_calls
from builder.adapters.nats.watchdog import Watchdog
from builder.app.broker import connection_arguments, open_bus, topology
from builder.app.components import PARTS, Components, Parts, open_components
from builder.app.config import template_folders
from builder.app.health import build_facts, is_alive, readiness, show_gauges
from builder.app.operations.explanations import Explanations
from builder.app.operations.replays import Replays
from builder.app.operations.summaries import compact_on_request, open_endpoint, open_summarising
from builder.app.reload import Reloader
from builder.app.settings import Settings
from builder.app.telemetry import Metrics
from builder.domain.breadcrumb import Place
from builder.domain.reports import DeliveryOutcome
from builder.publish.event import encode
from builder.remember.decode import decode
from builder.wire.subjects import Installation, parse_breadcrumb_subject
from builder.worker.backfill import Backfill
from builder.worker.catch_up import CatchUp
from builder.worker.consumers import Consumers, DefinitionReader
from builder.worker.erasure import Erasure
from builder.worker.imports import Imports
from builder.worker.loop import Attempts, Rules, Worker
from builder.worker.processor import Processor
from builder.worker.publishing import ContextPublisher, DeadLetters
from builder.worker.purging import PurgeSchedule, Purging
from builder.worker.quiet_time import QuietTime
from builder.worker.removals import Removals
from builder.worker.request_handlers import Contexts, Failures, Lookup, RequestHandlers, TombstonePublisher
from builder.worker.resilience import PACE, give_way
from builder.worker.summary_scheduler import Sources, SummaryScheduler
from builder.worker.tool_timeouts import TimeoutRules, ToolTimeouts
from builder.worker.turns import Turns

SWITCH_SECONDS = 0.0002
GENERATIONS = (700, 10, 1_000_000_000)
"""Objects and collections of younger generations before one is collected; the oldest never is by itself."""
GARBAGE_SECONDS = 300.0
"""Between two full collections."""
CLOCK_MARGIN = timedelta(minutes=10)
"""A trigger that is answered is younger than the age limit of CONTEXTS by this much, for differing clocks and slow builds."""
STORED_OUTCOMES = frozenset({"remembered", "published", "expired"})
"""Outcomes after which the store holds the breadcrumb."""
HEADER_BYTES = 1024
"""Bytes of the broker's limit that are reserved for the headers of a context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A running service."""

    reloading: Reloader
    installation: Installation
    url: str
    """Of the broker."""
    js: JetStreamContext
    application: Any
    """ASGI; its lifespan is that of the subscription."""

    @property
    def core(self) -> Components:
        """The present components, with the newest valid profiles and templates."""
        return self.reloading.core


@asynccontextmanager
async def open_service(settings: Settings, parts: Parts = PARTS) -> AsyncIterator[Service]:
    """All parts, subscribed once the ASGI application has started. Raises `Misconfigured` and `Unavailable`."""
    async with AsyncExitStack() as stack:
        metrics = Metrics(CollectorRegistry())
        core = await stack.enter_async_context(
            open_components(settings, parts=parts, patience=parts.engine_seconds, failed=metrics.template_failed, last_good=True)
        )
        url, connection, server = await stack.enter_async_context(open_bus(settings, core.store))
        js, own = connection.jetstream(), settings.installation
        reloading = Reloader(template_folders(settings), core, metrics.reload_failures.inc, metrics.template_failed, parts)
        inbox: NatsInbox
        removals: Removals
        probe = Probe(js, own)
        watchdog = Watchdog(js, topology(settings), core.store, lambda: inbox.rebind(), probe.measure, parts.watch_seconds)  # noqa: PLW0108 - made below
        ack_wait = await watchdog.prepare()
        stream = NatsStream(js, lambda: watchdog.incarnation, BREADCRUMBS, own)
        publisher = parts.publisher(connection, connection.max_payload, own)
        turns, read = Turns(), partial(decode, max_bytes=settings.worker.max_body_bytes, lifetimes=settings.lifetimes)
        in_work: set[Place] = set()
        catch_up = CatchUp(
            stream, core.store, core.store, publisher, read, turns.around(core.builder.remember), settings.worker.max_attempts,
            in_work,
        )  # fmt: skip
        archive = NatsArchive(js, lambda: watchdog.incarnation, own)
        sender, up_to_date = NatsSender(js, stream), partial(_catch_up_to_end, catch_up, stream)
        reader = DefinitionReader(stream, stream.last, core.store, catch_up, read) if settings.worker.record_consumers else None
        consumers = Consumers(reloading.builder, reader, stream.last, lambda: datetime.now(UTC))
        replays = Replays(
            lambda: reloading.core, archive, up_to_date, consumers.before, stream.last, connection.max_payload - HEADER_BYTES,
            lambda: removals.look(),  # noqa: PLW0108 - made below
        )  # fmt: skip
        drop = partial(_drop, reloading, consumers, replays)
        erasure = Erasure(catch_up, core.store, core.store, archive, drop)
        removals = Removals(stream.tombstones, stream.last, read, erasure.erase_here, core.store)
        tombstones = TombstonePublisher(sender, read, erasure, core.store, archive)
        sources = Sources(view=core.builder.recaller.session_view, walk=catch_up.walk, last=stream.last)
        endpoint = await stack.enter_async_context(open_endpoint(settings, core.helpers.count))
        summarising = open_summarising(
            core, sources, sender, endpoint, lambda: bool(in_work), metrics.summarised, settings.worker.max_body_bytes,
            consumers.in_memory,
        )  # fmt: skip
        requests = RequestHandlers(
            Lookup(core.store, lambda: datetime.now(UTC), up_to_date), Contexts(core.store, archive), core.store, core.store,
            tombstones, partial(compact_on_request, lambda: reloading.core, summarising), consumers,
        )  # fmt: skip
        processor = Processor(
            reloading.builder, catch_up,
            ContextPublisher(publisher, partial(encode, max_bytes=connection.max_payload - HEADER_BYTES)),
            read, tombstones.erase, lambda: datetime.now(UTC), CONTEXTS_MAX_AGE - CLOCK_MARGIN,
            QuietTime(stream, stream.last, read, lambda: datetime.now(UTC), core.store.facts), turns,
            consumers.before, lambda place: place <= watchdog.floor,
        )  # fmt: skip
        worker = Worker(
            processor,
            Attempts(core.store, in_work, settings.worker.max_attempts),
            DeadLetters(publisher, archive),
            partial(_observe, metrics, summarising, lambda: watchdog.incarnation),
            Rules(heartbeat=ack_wait / 3, pauses=parts.pauses),
        )
        inbox = NatsInbox(
            connection_arguments(url, settings), settings.worker.batch, settings.worker.graceful_seconds,
            worker.process, lambda: watchdog.incarnation, parts.delivery, own,
        )  # fmt: skip
        timeouts = ToolTimeouts(
            TimeoutRules(
                call=timedelta(seconds=settings.worker.tool_timeout_seconds), max_age=CONTEXTS_MAX_AGE - CLOCK_MARGIN,
                heartbeat=ack_wait / 3,
            ),
            consumers, read, sources, sender, lambda: datetime.now(UTC),
        )  # fmt: skip
        imports = Imports(worker.process, lambda: inbox.is_busy, ack_wait / 3, parts.pace)
        background = partial(BackgroundInbox, connection, topology(settings), core.store, lambda: watchdog.incarnation)
        calls, replayed = await _open_background(stack, background, own, timeouts, imports)
        backfill = Backfill(core.store, core.builder.ingest.with_vectors, lambda: bool(in_work), parts.pace)
        purge_schedule = PurgeSchedule(
            Purging(core.store, erasure.contexts, archive, drop, lambda: bool(in_work)), core.store,
            timedelta(hours=settings.worker.purge_hours), PurgeLock(js, own, settings.nats.replicas), lambda: datetime.now(UTC),
            metrics.purged.inc, parts.purge_poll_seconds,
        )  # fmt: skip
        ready = readiness(core, watchdog, reloading.state, probe, server, connection, own, metrics.parts)
        show_gauges(metrics, core.store, settings.data_dir.expanduser(), probe, backfill, watchdog)
        renew = partial(_renew, settings.name, metrics, summarising)
        renew(core)
        loops = _run_beside(
            stack, watchdog.run(), backfill.run(), removals.run(), summarising.run(), calls.run(), replayed.run(),
            reloading.run(renew), purge_schedule.run(), _stay_responsive(lambda: inbox.is_busy),
        )  # fmt: skip
        await stack.enter_async_context(
            answering(
                connection,
                {
                    **requests.verbs,
                    **Explanations(replays, core.store, lambda place: place <= watchdog.floor).verbs,
                    **Failures(core.store, publisher, up_to_date).verbs,
                },
                own,
                metrics.answered,
            )
        )
        application = inbox.application(routes(partial(is_alive, watchdog, loops), ready, metrics.registry))
        yield Service(installation=own, reloading=reloading, url=url, js=js, application=application)


def _run_beside(stack: AsyncExitStack, *loops: Coroutine[Any, Any, None]) -> list[asyncio.Task[None]]:
    """Run the loops until the stack closes."""
    tasks = [asyncio.create_task(loop) for loop in loops]
    for task in tasks:
        stack.push_async_callback(_cancel, task)
    return tasks


async def _open_background(
    stack: AsyncExitStack,
    background: Callable[..., BackgroundInbox],
    own: Installation,
    timeouts: ToolTimeouts,
    imports: Imports,
) -> tuple[BackgroundInbox, BackgroundInbox]:
    """The inboxes of tool calls and of imports; that of imports is open before the inbox leaves any to it."""
    calls = background(tool_calls(own), timeouts.process, lambda: timeouts.is_needed)
    replayed = background(replayed_breadcrumbs(own), imports.process)
    stack.push_async_callback(calls.close)
    stack.push_async_callback(replayed.close)
    await replayed.look()
    return calls, replayed


def _drop(reloading: Reloader, consumers: Consumers, replays: Replays, workspace: str, ids: frozenset[str]) -> int:
    """Take breadcrumbs out of every cache of this process; returns how many vectors and fragments went."""
    consumers.drop(workspace)
    replays.forget()
    return reloading.drop(workspace, ids)


async def _catch_up_to_end(catch_up: CatchUp, stream: NatsStream, workspace: str, session: str) -> None:
    last = await stream.last()
    await catch_up.walk(workspace, session, Place(last.incarnation, last.sequence + 1))


def _renew(name: str, metrics: Metrics, summarising: SummaryScheduler, core: Components) -> None:
    """Take the present profiles and templates where nothing asks for them by itself."""
    metrics.describe(build_facts(name, core))
    summarising.take(core.profiles)


async def _stay_responsive(busy: Callable[[], bool]) -> None:
    """Collect all garbage while nobody waits, and at no other time: it stops the process for 50 ms for 20,000 cached messages.

    What the start has loaded is exempt. Let the event loop run after 0.2 ms instead of five while a thread works on a long text:
    a context waits some twenty times.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GENERATIONS)
    sys.setswitchinterval(SWITCH_SECONDS)
    while True:
        await asyncio.sleep(GARBAGE_SECONDS)
        await give_way(busy, PACE)
        gc.collect()


def _observe(metrics: Metrics, summarising: SummaryScheduler, incarnation: Callable[[], int], processed: DeliveryOutcome) -> None:
    """Count a delivery and note its session for the summariser, which leaves imported sessions until their next message."""
    metrics.observe(processed)
    if processed.outcome in STORED_OUTCOMES:
        address = parse_breadcrumb_subject(processed.subject)
        summarising.note(address.workspace, address.session, Place(incarnation(), processed.sequence), processed.replay)


async def unsettled(service: Service) -> int:
    """Breadcrumbs that wait or are in work."""
    number = 0
    for durable in (all_breadcrumbs(service.installation), replayed_breadcrumbs(service.installation)):
        info = await service.js.consumer_info(durable.stream, durable.durable)
        number += (info.num_pending or 0) + (info.num_ack_pending or 0)
    return number


async def _cancel(task: asyncio.Task[None]) -> None:
    """Until it is done: Python 3.11's wait_for, inside nats-py, may drop a cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=0.1)


async def serve_until(service: Service, host: str, port: int, stop: asyncio.Event, started: Callable[[int], None]) -> None:
    """Serve until `stop` is set. started: called with the HTTP port once all of it is up. Raises `Misconfigured`."""
    await serve(service.application, host, port, stop, started)


@asynccontextmanager
async def serving(service: Service, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
    """Serve while the block runs; gives the HTTP port. For the demo, the benchmarks and the tests."""
    stop, started = asyncio.Event(), asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve_until(service, host, port, stop, started.set_result))
    try:
        await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        yield started.result()
    finally:
        stop.set()
        await task
