"""The running service: settings → parts → line → jobs, in one exit stack."""

import asyncio
import gc
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from nats.aio.client import Client
from nats.js import JetStreamContext
from prometheus_client import CollectorRegistry

from builder.adapters.http import routes, serve, with_applications
from builder.adapters.nats.clock import BrokerClock
from builder.adapters.nats.durables import NatsDurables
from builder.adapters.nats.inbox import BackgroundInbox, NatsInbox
from builder.adapters.nats.publisher import NatsSender
from builder.adapters.nats.requests import answering
from builder.adapters.nats.stream import NatsArchive, NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, replayed_breadcrumbs, tool_calls
from builder.adapters.nats.watchdog import Probe, Watchdog
from builder.app.broker import connection_arguments, open_bus, topology
from builder.app.components import PARTS, Components, Parts, open_components
from builder.app.config import template_folders
from builder.app.doors import Door, DoorParts, applications, open_doors
from builder.app.health import is_alive, readiness
from builder.app.line import HEADER_BYTES, MAX_TRIGGER_AGE, Broker, Line, handlers_of, open_line
from builder.app.reload import Reloader
from builder.app.settings import Settings
from builder.app.telemetry import Metrics, build_facts, show_gauges
from builder.domain.errors import Misconfigured
from builder.wire.subjects import Installation
from builder.worker.jobs import Job, JobRunner, tell
from builder.worker.loop import Imports
from builder.worker.tool_timeouts import TimeoutRules, ToolTimeouts

SWITCH_SECONDS = 0.0002
GENERATIONS = (700, 10, 1_000_000_000)
"""The oldest generation is never collected."""
GARBAGE_SECONDS = 300.0
LOOK_SECONDS = 2.0
"""Between two looks for a durable."""
RELOAD_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A running service."""

    reloading: Reloader
    installation: Installation
    url: str
    js: JetStreamContext
    application: Any
    """ASGI; its lifespan is that of the subscription."""
    doors: tuple[Door, ...]
    """Those of extras, open."""

    @property
    def core(self) -> Components:
        """With the newest valid profiles and templates."""
        return self.reloading.core


@asynccontextmanager
async def open_service(settings: Settings, parts: Parts = PARTS, *, makes_token: bool = False) -> AsyncIterator[Service]:
    """Subscribed when the ASGI application starts. makes_token: see `DoorParts`. Raises `Misconfigured`, `Unavailable`."""
    async with AsyncExitStack() as stack:
        metrics, own = Metrics(CollectorRegistry()), settings.installation
        core = await stack.enter_async_context(
            open_components(
                settings,
                parts=parts,
                patience=parts.engine_seconds,
                failed=metrics.template_failed,
                last_good=True,
                waits=bool(settings.store.url),
            )
        )
        url, connection, server = await stack.enter_async_context(open_bus(settings, core.store))
        js, probe = connection.jetstream(), Probe(connection.jetstream(), own)
        reloading = Reloader(
            template_folders(settings), core, metrics.counters["reload_failures"].inc, metrics.template_failed, parts
        )
        await reloading.keep_edition(core.config)
        watchdog = Watchdog(js, topology(settings), core.store, probe.measure)
        ack_wait = await watchdog.prepare()
        clock = BrokerClock(connection, own)
        await clock.ahead()
        broker = _broker(connection, watchdog, clock, ack_wait / 3, own, parts)
        line = await stack.enter_async_context(open_line(reloading, settings, broker, metrics, parts))
        inbox = NatsInbox(
            connection_arguments(url, settings), settings.worker.batch, settings.worker.graceful_seconds,
            line.worker.process, watchdog.incarnation, parts.delivery, own,
        )  # fmt: skip
        watchdog.rebind = inbox.rebind
        durables = await _open_durables(stack, connection, settings, watchdog, line, broker, inbox, parts)
        doors = await stack.enter_async_context(
            open_doors(DoorParts(settings=settings, connection=connection, host=line.host, makes_token=makes_token))
        )
        own_jobs = _jobs(settings, reloading, watchdog, clock, metrics, line, parts)
        jobs = (*line.jobs, *own_jobs, *durables, *(job for door in doors for job in door.jobs))
        for name, number in Counter(job.name for job in jobs).items():
            if number > 1:
                raise Misconfigured(f"an extra brings a job {name!r}, which the service has; uninstall the extra")
            metrics.counters["job_failures"].labels(name)
        runner = JobRunner(busy=lambda: inbox.is_busy, observer=metrics, pace=parts.pace)
        stack.enter_context(_responsive())
        tasks = _run(stack, runner, jobs)
        show_gauges(metrics, core.store, settings.data_dir.expanduser(), probe, line.backfill, watchdog)
        metrics.describe(build_facts(settings.name, core))
        observers = (metrics.answered, *(door.observe for door in doors))
        await stack.enter_async_context(answering(connection, handlers_of(line.host), own, observers))
        ready = readiness(core, watchdog, reloading.state, probe, server, clock, metrics.parts)
        application = inbox.application(routes(partial(is_alive, watchdog, tasks), ready, metrics.registry))
        application = with_applications(application, applications(doors))
        yield Service(installation=own, reloading=reloading, url=url, js=js, application=application, doors=doors)


def _broker(
    connection: Client, watchdog: Watchdog, clock: BrokerClock, heartbeat: float, own: Installation, parts: Parts
) -> Broker:
    js = connection.jetstream()
    stream = NatsStream(js, watchdog.incarnation, BREADCRUMBS, own)
    return Broker(
        connection=connection,
        stream=stream,
        archive=NatsArchive(js, watchdog.incarnation, own),
        publisher=parts.publisher(connection, connection.max_payload, own),
        sender=NatsSender(js, stream),
        durables=NatsDurables(js, own),
        max_event_bytes=connection.max_payload - HEADER_BYTES,
        heartbeat=heartbeat,
        now=clock.now,
        is_settled=lambda place: place <= watchdog.floor,
    )


async def _open_durables(
    stack: AsyncExitStack,
    connection: Client,
    settings: Settings,
    watchdog: Watchdog,
    line: Line,
    broker: Broker,
    inbox: NatsInbox,
    parts: Parts,
) -> tuple[Job, ...]:
    own, call = settings.installation, timedelta(seconds=settings.worker.tool_timeout_seconds)
    rules = TimeoutRules(call=call, max_age=MAX_TRIGGER_AGE, heartbeat=broker.heartbeat)
    timeouts = ToolTimeouts(rules, line.log, line.host.builder().recaller, line.host.consumers, broker.sender)
    imports = Imports(line.worker, lambda: inbox.is_busy, broker.heartbeat, parts.pace)
    background = partial(BackgroundInbox, connection, topology(settings), line.log.store, watchdog.incarnation)
    calls = background(tool_calls(own), timeouts.process, lambda: timeouts.is_needed)
    replayed = background(replayed_breadcrumbs(own), imports.process)
    stack.push_async_callback(calls.close)
    stack.push_async_callback(replayed.close)
    for each in (calls, replayed):  # before the inbox goes on: a durable that is made later begins where the inbox was
        await each.look()
    return (
        Job(name="fetching tool calls", every=LOOK_SECONDS, run_once=calls.look),
        Job(name="fetching imports", every=LOOK_SECONDS, run_once=replayed.look),
    )


def _jobs(
    settings: Settings,
    reloading: Reloader,
    watchdog: Watchdog,
    clock: BrokerClock,
    metrics: Metrics,
    line: Line,
    parts: Parts,
) -> Iterable[Job]:
    async def reload() -> None:
        if await reloading.look():
            metrics.describe(build_facts(settings.name, reloading.core))
            for name, job in line.host.jobs.items():
                tell(name, job.reset)

    async def collect_garbage() -> None:
        gc.collect()

    yield Job(name="watching the streams", every=parts.watch_seconds, run_once=watchdog.check)
    yield Job(name="asking for the broker's time", every=parts.watch_seconds, run_once=clock.ahead)
    yield Job(name="reading edited files", every=RELOAD_SECONDS, run_once=reload)
    yield Job(name="collecting garbage", every=GARBAGE_SECONDS, run_once=collect_garbage, gives_way=True)


def _run(stack: AsyncExitStack, runner: JobRunner, jobs: Iterable[Job]) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(runner.run(job), name=job.name) for job in jobs]
    for task in tasks:
        stack.push_async_callback(_cancel, task)
    return tasks


@contextmanager
def _responsive() -> Iterator[None]:
    """For the block: the process may be somebody's, who has a service in it for a while and may have frozen its objects."""
    thresholds, seconds, is_frozen = gc.get_threshold(), sys.getswitchinterval(), bool(gc.get_freeze_count())
    if not is_frozen:
        gc.collect()
        gc.freeze()
    gc.set_threshold(*GENERATIONS)
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(seconds)
        gc.set_threshold(*thresholds)
        if not is_frozen:
            gc.unfreeze()


async def _cancel(task: asyncio.Task[None]) -> None:
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=0.1)


async def serve_until(service: Service, host: str, port: int, stop: asyncio.Event, started: Callable[[int], None]) -> None:
    """started: gets the HTTP port. Raises `Misconfigured`."""

    def stopping() -> None:
        for door in service.doors:
            door.stopping()

    await serve(service.application, host, port, stop, started, stopping)


@asynccontextmanager
async def serving(service: Service, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
    """Serve during the block; gives the HTTP port."""
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
