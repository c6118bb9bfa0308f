"""Composition root: components and a broker, real or in memory, become deliveries, requests and jobs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Protocol

from builder.adapters.nats.topology import CONTEXTS_MAX_AGE
from builder.app.components import PARTS, Parts
from builder.app.operations.explanations import Explanations
from builder.app.operations.replays import Replays
from builder.app.operations.summaries import summary_writer
from builder.app.reload import Reloader
from builder.app.settings import Settings
from builder.domain.breadcrumb import Place
from builder.ports.broker import Archive, PublishedContexts, Publisher, Sender, Stream
from builder.ports.models import Summarizer
from builder.publish.event import encode
from builder.recall.recall import Recaller
from builder.remember.decode import decode
from builder.worker.backfill import Backfill
from builder.worker.decide import Consumers
from builder.worker.erasure import Erasure, Forgetting
from builder.worker.jobs import Job, Observer
from builder.worker.log import Log
from builder.worker.loop import Rules, Worker
from builder.worker.processor import ContextPublisher, DeadLetters, Processor
from builder.worker.request_handlers import Contexts, Lookup, RequestHandlers, Verb
from builder.worker.summary_scheduler import SummaryScheduler
from builder.worker.turns import Turns

CLOCK_MARGIN = timedelta(minutes=10)
"""Margin below the age limit of CONTEXTS within which a trigger still gets a context."""
MAX_TRIGGER_AGE = CONTEXTS_MAX_AGE - CLOCK_MARGIN
REMOVAL_SECONDS = 2.0
"""Between two looks for tombstones that other workers took."""


class BothArchives(Archive, PublishedContexts, Protocol):
    """Deletes from the streams and reads contexts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """What the line needs of a broker."""

    stream: Stream
    archive: BothArchives
    publisher: Publisher
    sender: Sender
    max_event_bytes: int
    heartbeat: float
    """Seconds between two signs of life of a delivery."""
    is_settled: Callable[[Place], bool] = lambda _place: True
    """Whether no worker has the delivery of a position in work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Everything that a delivery, a request or a job runs through."""

    log: Log
    consumers: Consumers
    recaller: Recaller
    drop: Callable[[str, frozenset[str]], int]
    """Takes breadcrumbs out of all caches; returns numbers of vectors and fragments."""
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
    log = Log(broker.stream, core.store, publisher, decoding, remember, config.max_attempts, of_records=config.record_consumers)
    consumers = Consumers(reloading.builder, log)
    drop = partial(_drop, reloading, log)
    erasure = Erasure(log, archive, drop)
    forgetting = Forgetting(log, erasure, broker.sender, archive)
    writer = summary_writer(core, broker.sender, endpoint, observer, config.max_body_bytes)
    summaries = SummaryScheduler(log, recaller, writer, core.profiles, consumers.in_memory)
    contexts = ContextPublisher(publisher, partial(encode, max_bytes=broker.max_event_bytes))
    processor = Processor(
        reloading.builder, log, consumers, contexts, forgetting, turns, MAX_TRIGGER_AGE, broker.is_settled
    )  # fmt: skip
    rules = Rules(heartbeat=broker.heartbeat, pauses=parts.pauses)
    return Line(
        log=log,
        consumers=consumers,
        recaller=recaller,
        drop=drop,
        erasure=erasure,
        forgetting=forgetting,
        summaries=summaries,
        backfill=Backfill(core.store, core.builder.ingest.with_vectors, lambda: log.busy, parts.pace),
        worker=Worker(processor, log, DeadLetters(publisher, archive), (observer, summaries), rules),
    )


def verbs_of(line: Line, reloading: Reloader, broker: Broker) -> Mapping[str, Verb]:
    """Name in the subject → handler, of all requests."""
    store, archive = line.log.store, broker.archive
    replays = Replays(reloading, archive, line.log, broker.max_event_bytes, line.forgetting.follow)
    handlers = (
        Lookup(line.log),
        Contexts(store, archive),
        RequestHandlers(line.log, broker.publisher, line.forgetting, line.consumers, line.summaries, reloading.profile),
        Explanations(replays, store, broker.is_settled),
    )
    return {name: verb for each in handlers for name, verb in each.verbs.items()}


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
