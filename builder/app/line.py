"""The composition root: components and a broker, real or in memory, become the line of deliveries with its requests and jobs."""

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
from builder.worker.consumers import Consumers
from builder.worker.erasure import Erasure
from builder.worker.forgetting import Forgetting
from builder.worker.jobs import Job, Observer
from builder.worker.log import Log
from builder.worker.loop import Rules, Worker
from builder.worker.processor import Processor
from builder.worker.publishing import ContextPublisher, DeadLetters
from builder.worker.request_handlers import Contexts, Lookup, RequestHandlers, Verb
from builder.worker.summary_scheduler import SummaryScheduler
from builder.worker.turns import Turns

CLOCK_MARGIN = timedelta(minutes=10)
"""A trigger gets a context while it is this much younger than the age limit of CONTEXTS: clocks differ, and builds take time."""
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
    worker: Worker
    verbs: Mapping[str, Verb]
    jobs: tuple[Job, ...]
    consumers: Consumers
    recaller: Recaller
    erasure: Erasure
    drop: Callable[[str, frozenset[str]], int]
    """Takes breadcrumbs out of every cache of this process; returns how many vectors and fragments went."""
    summaries: SummaryScheduler
    backfill: Backfill


def make_line(
    reloading: Reloader,
    settings: Settings,
    broker: Broker,
    observer: Observer,
    endpoint: Summarizer | None = None,
    parts: Parts = PARTS,
) -> Line:
    """endpoint: writes observations; None = summaries are extractive."""
    core, config = reloading.core, settings.worker
    turns, store, archive = Turns(), core.store, broker.archive
    log = Log(
        broker.stream,
        store,
        broker.publisher,
        partial(decode, max_bytes=config.max_body_bytes, lifetimes=settings.lifetimes),
        turns.around(core.builder.remember),
        max_attempts=config.max_attempts,
        reads_definitions=config.record_consumers,
    )
    consumers = Consumers(reloading.builder, log)
    drop = partial(_drop, reloading, log)
    erasure = Erasure(log, archive, drop)
    forgetting = Forgetting(log, erasure, broker.sender, archive)
    writer = summary_writer(core, broker.sender, endpoint, observer, config.max_body_bytes)
    summaries = SummaryScheduler(log, core.builder.recaller, writer, core.profiles, consumers.in_memory)
    contexts = ContextPublisher(broker.publisher, partial(encode, max_bytes=broker.max_event_bytes))
    processor = Processor(
        reloading.builder, log, consumers, contexts, forgetting, turns, MAX_TRIGGER_AGE, broker.is_settled
    )  # fmt: skip
    rules = Rules(heartbeat=broker.heartbeat, pauses=parts.pauses)
    worker = Worker(processor, log, DeadLetters(broker.publisher, archive), (observer, summaries), rules)
    backfill = Backfill(store, core.builder.ingest.with_vectors, lambda: log.busy, parts.pace)
    replays = Replays(reloading, archive, log, broker.max_event_bytes, forgetting.follow)
    handlers = (
        Lookup(log),
        Contexts(store, archive),
        RequestHandlers(log, broker.publisher, forgetting, consumers, summaries, reloading.profile),
        Explanations(replays, store, broker.is_settled),
    )
    jobs = (
        Job(name="filling in vectors", every=parts.pace.rest, run_once=backfill.walk),
        Job(name="following tombstones", every=REMOVAL_SECONDS, run_once=forgetting.follow),
        Job(name="summarising", every=0.0, run_once=summaries.run_once),
    )
    verbs = {name: verb for each in handlers for name, verb in each.verbs.items()}
    return Line(
        log=log, worker=worker, verbs=verbs, jobs=jobs, consumers=consumers, recaller=core.builder.recaller, erasure=erasure,
        drop=drop, summaries=summaries, backfill=backfill,
    )  # fmt: skip


def _drop(reloading: Reloader, log: Log, workspace: str, ids: frozenset[str]) -> int:
    log.drop(workspace)
    return reloading.drop(workspace, ids)
