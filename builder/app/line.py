"""Composition root: components and a broker, real or in memory, become deliveries, requests and jobs."""

import logging
from collections.abc import AsyncIterator, Callable, Container, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from nats.aio.client import Client

from builder.adapters.nats.topology import CONTEXTS_MAX_AGE
from builder.app.components import PARTS, Parts
from builder.app.rebuilding import Rebuilding, profile_of
from builder.app.reload import Reloader
from builder.app.requests import all_requests
from builder.app.settings import Settings
from builder.domain.breadcrumb import Place
from builder.domain.errors import Misconfigured
from builder.domain.json_values import JsonObject
from builder.domain.profile import Profile
from builder.extra import PURGING, SUMMARISING, Host, Request, additions
from builder.ports.archive import Archive
from builder.ports.contexts import Durables, PublishedContexts, Publisher
from builder.ports.stream import Sender, Stream
from builder.publish.event import encode
from builder.remember.decode import decode
from builder.service import Functions
from builder.wire.requests import read_request
from builder.worker.backfill import Backfill
from builder.worker.consumers import Consumers
from builder.worker.erasure import Erasure
from builder.worker.jobs import BackgroundJob, Job, Observer
from builder.worker.log import UTC_NOW, Log
from builder.worker.loop import Worker
from builder.worker.processor import ContextPublisher, DeadLetters, Processor
from builder.worker.requests import JsonHandler
from builder.worker.tombstones import Forgetting
from builder.worker.turns import Turns

logger = logging.getLogger("builder.app.line")

CLOCK_MARGIN = timedelta(minutes=10)
"""Below the age limit of CONTEXTS."""
HEADER_BYTES = 1024
"""Below the broker's limit."""
MAX_TRIGGER_AGE = CONTEXTS_MAX_AGE - CLOCK_MARGIN
REMOVAL_SECONDS = 2.0
"""Between two looks for other workers' tombstones."""


class BothArchives(Archive, PublishedContexts, Protocol):
    """Deletes from the streams and reads contexts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """Ports and numbers of a broker."""

    connection: Client
    stream: Stream
    archive: BothArchives
    publisher: Publisher
    sender: Sender
    durables: Durables
    max_event_bytes: int
    heartbeat: float
    """Seconds between two signs of life."""
    now: Callable[[], datetime] = UTC_NOW
    """The broker's time: it decides what is expired, old or due."""
    is_settled: Callable[[Place], bool] = lambda _place: True
    """Whether no worker has this delivery in work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Parts that deliveries, requests and jobs run through."""

    log: Log
    host: Host
    jobs: tuple[Job, ...]
    """Those that every broker has, and those of extras."""
    backfill: Backfill
    worker: Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class JobParts:
    """The parts of the running service that a job of an extra may use."""

    settings: Settings
    host: Host
    """What handlers of requests get; its jobs are those that are open already."""
    connection: Client
    """To the broker; it is the service's own, and stays open."""
    sender: Sender
    """Publishes breadcrumbs."""
    erasure: Erasure
    """Erases from streams, store and caches."""
    functions: Functions
    observer: Observer
    """Its metrics, which a job tells of summaries and purges."""


@asynccontextmanager
async def open_line(
    reloading: Reloader, settings: Settings, broker: Broker, observer: Observer, parts: Parts = PARTS
) -> AsyncIterator[Line]:
    """With the jobs of extras. Raises `Misconfigured`."""
    core, config, archive, publisher = reloading.core, settings.worker, broker.archive, broker.publisher
    turns = Turns()
    decoding = partial(decode, max_bytes=config.max_body_bytes, lifetimes=settings.lifetimes)
    remember = turns.around(core.builder.remember)
    log = Log(
        broker.stream, core.store, publisher, decoding, remember, config.max_attempts, broker.now,
        of_records=config.record_consumers,
    )  # fmt: skip
    consumers = Consumers(reloading.builder, log)
    erasure = Erasure(log, archive, partial(_drop, reloading, log))
    forgetting = Forgetting(log, erasure, broker.sender)
    contexts = ContextPublisher(publisher, partial(encode, max_bytes=broker.max_event_bytes))
    processor = Processor(reloading.builder, log, contexts, forgetting, turns, MAX_TRIGGER_AGE, broker.is_settled)
    replays = Rebuilding(reloading, archive, log, broker.max_event_bytes, forgetting.follow)
    own = dict[str, BackgroundJob]()
    host = Host(
        log=log,
        consumers=consumers,
        replays=replays,
        builder=reloading.builder,
        profile=lambda name: profile_of(reloading.core, name),
        contexts=archive,
        publisher=publisher,
        durables=broker.durables,
        forgetting=forgetting,
        letters=erasure.letters,
        is_settled=broker.is_settled,
        jobs=own,
    )
    job_parts = JobParts(
        settings=settings, host=host, connection=broker.connection, sender=broker.sender, erasure=erasure,
        functions=core.helpers, observer=observer,
    )  # fmt: skip
    backfill = Backfill(log, core.builder.ingest, parts.pace)
    async with AsyncExitStack() as stack:
        for name, opener in additions("jobs").items():
            if job := await stack.enter_async_context(opener(job_parts)):
                own[name] = job
        _check_jobs(own, settings, core.profiles)
        yield Line(
            log=log,
            host=host,
            jobs=(
                Job(name="filling in vectors", every=parts.pace.rest, run_once=backfill.walk),
                Job(name="following tombstones", every=REMOVAL_SECONDS, run_once=forgetting.follow),
                *(Job(name=name, every=job.every, run_once=job.run_once) for name, job in own.items()),
            ),
            backfill=backfill,
            worker=Worker(
                processor,
                log,
                DeadLetters(publisher, archive),
                (("the metrics", observer), *own.items()),
                broker.heartbeat,
                parts.pauses,
            ),
        )


def _check_jobs(jobs: Container[str], settings: Settings, profiles: Iterable[Profile]) -> None:
    """jobs: names of those that extras have opened. Raises `Misconfigured` for a setting that none of them is for."""
    if settings.worker.purge_hours and PURGING not in jobs:
        raise Misconfigured(
            f"CONTEXT_BUILDER_WORKER__PURGE_HOURS is {settings.worker.purge_hours:g}, and no installed extra purges; "
            "install the package again (`make up` in a clone), or set it to 0: what has expired is then kept"
        )
    if SUMMARISING in jobs:
        return
    if settings.summaries.url:
        raise Misconfigured(
            "CONTEXT_BUILDER_SUMMARIES__URL is set, and no installed extra makes summaries; "
            "install the package again (`make up` in a clone), or take the variable away"
        )
    if names := [each.consumer for each in profiles if each.summaries and each.summaries.by == "extractive"]:
        logger.warning(
            "no installed extra makes the summaries that the profiles of %s want; "
            "install the package again (`make up` in a clone), or set `summaries: null` there",
            ", ".join(names),
        )


def handlers_of(host: Host) -> Mapping[str, JsonHandler]:
    """Name of a request → its handler. Raises `Misconfigured` for a name that two have."""
    return {name: partial(_answer, host, request) for name, request in all_requests().items()}


async def _answer(host: Host, request: Request, workspace: str, data: bytes) -> JsonObject:
    return await request.ask(host, workspace, read_request(request.model, data))


def _drop(reloading: Reloader, log: Log, workspace: str, ids: frozenset[str]) -> int:
    log.drop(workspace)
    return reloading.drop(workspace, ids)
