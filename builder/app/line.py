"""Composition root: components and a broker, real or in memory, become deliveries, requests and jobs."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

from builder.adapters.nats.topology import CONTEXTS_MAX_AGE
from builder.adapters.stemmer import load_language
from builder.app.components import PARTS, Components, Parts
from builder.app.rebuilding import Rebuilding
from builder.app.reload import Reloader
from builder.app.requests import all_requests
from builder.app.settings import Settings
from builder.domain.breadcrumb import Place
from builder.domain.errors import Misconfigured
from builder.extra import Host, Request, SummaryModel, additions
from builder.ports.archive import Archive
from builder.ports.contexts import Durables, PublishedContexts, Publisher
from builder.ports.models import Summarizer
from builder.ports.stream import Sender, Stream
from builder.publish.event import encode
from builder.recall.recall import Recaller
from builder.recall.summaries.excerpts import TextFunctions
from builder.remember.decode import decode
from builder.wire.requests import read_request
from builder.worker.backfill import Backfill
from builder.worker.consumers import Consumers
from builder.worker.erasure import Erasure
from builder.worker.forget_requests import ForgetRequests
from builder.worker.jobs import Job, Observer
from builder.worker.log import UTC_NOW, Log
from builder.worker.loop import Rules, Worker
from builder.worker.processor import ContextPublisher, DeadLetters, Processor
from builder.worker.replays import Refresh
from builder.worker.request_handlers import Contexts, Lookup
from builder.worker.requests import JsonHandler
from builder.worker.responses import Responses
from builder.worker.summary_scheduler import SummaryScheduler
from builder.worker.summary_writer import SummaryWriter
from builder.worker.tombstones import Forgetting
from builder.worker.turns import Turns

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
    consumers: Consumers
    recaller: Recaller
    erasure: Erasure
    forgetting: Forgetting
    summaries: SummaryScheduler
    backfill: Backfill
    worker: Worker


def make_line(
    reloading: Reloader,
    settings: Settings,
    broker: Broker,
    observer: Observer,
    endpoint: Summarizer | None = None,
    parts: Parts = PARTS,
) -> Line:
    """endpoint: writes observations; None = summaries are extractive."""
    core, config, archive, publisher = reloading.core, settings.worker, broker.archive, broker.publisher
    turns, recaller = Turns(), core.builder.recaller
    decoding = partial(decode, max_bytes=config.max_body_bytes, lifetimes=settings.lifetimes)
    remember = turns.around(core.builder.remember)
    attempts, of_records = config.max_attempts, config.record_consumers
    log = Log(broker.stream, core.store, publisher, decoding, remember, attempts, broker.now, of_records=of_records)
    consumers = Consumers(reloading.builder, log)
    erasure = Erasure(log, archive, partial(_drop, reloading, log))
    forgetting = Forgetting(log, erasure, broker.sender)
    writer = summary_writer(core, broker.sender, endpoint, observer, config.max_body_bytes)
    summaries = SummaryScheduler(log, recaller, writer, consumers.in_memory)
    contexts = ContextPublisher(publisher, partial(encode, max_bytes=broker.max_event_bytes))
    processor = Processor(reloading.builder, log, contexts, forgetting, turns, MAX_TRIGGER_AGE, broker.is_settled)
    rules = Rules(heartbeat=broker.heartbeat, pauses=parts.pauses)
    return Line(
        log=log,
        consumers=consumers,
        recaller=recaller,
        erasure=erasure,
        forgetting=forgetting,
        summaries=summaries,
        backfill=Backfill(log, core.builder.ingest, parts.pace),
        worker=Worker(processor, log, DeadLetters(publisher, archive), (observer, summaries), rules),
    )


def host_of(line: Line, reloading: Reloader, broker: Broker) -> Host:
    """What handlers of requests get."""
    log, store, archive = line.log, line.log.store, broker.archive
    replays = Rebuilding(reloading, archive, log, broker.max_event_bytes, line.forgetting.follow)
    return Host(
        log=log,
        consumers=line.consumers,
        summaries=line.summaries,
        replays=replays,
        builder=reloading.builder,
        profile=reloading.profile,
        lookup=Lookup(log),
        contexts=Contexts(log, archive, broker.publisher),
        forgetting=ForgetRequests(log, line.forgetting, line.erasure.letters),
        responses=Responses(log, broker.durables),
        refresh=Refresh(replays, store, broker.is_settled),
    )


def handlers_of(host: Host) -> Mapping[str, JsonHandler]:
    """Name of a request → its handler. Raises `Misconfigured` for a name that two have."""
    return {name: partial(_answer, host, request) for name, request in all_requests().items()}


async def _answer(host: Host, request: Request, workspace: str, data: bytes) -> dict[str, Any]:
    return await request.ask(host, workspace, read_request(request.model, data))


def jobs_of(line: Line, parts: Parts) -> tuple[Job, ...]:
    """The jobs that every broker has."""
    return (
        Job(name="filling in vectors", every=parts.pace.rest, run_once=line.backfill.walk),
        Job(name="following tombstones", every=REMOVAL_SECONDS, run_once=line.forgetting.follow),
        Job(name="summarising", every=0.0, run_once=line.summaries.run_once),
    )


def _drop(reloading: Reloader, log: Log, workspace: str, ids: frozenset[str]) -> int:
    log.drop(workspace)
    return reloading.drop(workspace, ids)


@asynccontextmanager
async def open_endpoint(settings: Settings, tokens: Callable[[str], int]) -> AsyncIterator[Summarizer | None]:
    """None = not configured. tokens: text → count. Raises `Misconfigured` without model or SDK."""
    summaries = settings.summaries
    if not summaries.url:
        yield None
        return
    openers, scheme = additions("summarizers"), summaries.url.partition("://")[0]
    if scheme not in openers or not summaries.model:
        raise Misconfigured(
            f"CONTEXT_BUILDER_SUMMARIES__URL is {summaries.url!r} and __MODEL {summaries.model!r}; "
            "give a URL like https://host/v1 and the name of a model, or unset both"
        )
    model = SummaryModel(
        url=summaries.url,
        model=summaries.model,
        key=summaries.key.get_secret_value(),
        timeout=summaries.timeout_seconds,
        attempts=summaries.attempts,
    )
    async with openers[scheme](model, tokens) as endpoint:
        yield endpoint


def summary_writer(
    core: Components, sender: Sender, endpoint: Summarizer | None, observer: Observer, max_bytes: int
) -> SummaryWriter:
    """max_bytes: of a breadcrumb."""
    words = TextFunctions(terms=core.helpers.terms, count=core.helpers.count, language=load_language())
    return SummaryWriter(sender, words, endpoint, core.store, observer, max_bytes)
