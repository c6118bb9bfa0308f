"""Streams and durables, created or verified at start; FastStream cannot express every setting that they need."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    ConsumerInfo,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
    StreamInfo,
)
from nats.js.errors import NotFoundError

from builder.adapters.nats.connection import translated
from builder.domain.breadcrumb import AGENT_RESPONSE, TOOL_REQUEST, Place
from builder.domain.errors import Misconfigured
from builder.wire.subjects import DEFAULT, DEFAULT_NAME, Installation

BREADCRUMBS, CONTEXTS, DEADLETTERS, PROBES = "BREADCRUMBS", "CONTEXTS", "DEADLETTERS", "PROBES"
"""The streams; `Installation.stream` gives their names on the broker."""
PROBES_SUBJECT = "probes.context-builder"
PURGE_KEY = "task.purge"
"""Key of the installation's bucket: the worker that purges holds it."""
DURABLE = DEFAULT_NAME
FLOOR = ("", DURABLE)
"""Key of the ledger under which the durable's ack floor is noted; no workspace has an empty name."""
FILL_PLACE = ("", "filled")
"""Key of the ledger under which `reindex` and `models switch` note how far they are."""
RESTORED_FROM, RESTORED_AT = "context-builder-restored-from", "context-builder-restored-at"
"""Metadata of a restored stream: the incarnation of BREADCRUMBS in the backup, and since the restore."""
RESTORED_FILE = "context-builder-restored-file"
"""Metadata of a restored stream: SHA-256 of the file of its backup."""
RESTORING = "context-builder-restoring"
"""Metadata of a stream while a restore makes it: the name of the run. It takes no message then."""
CONTEXTS_MAX_AGE = timedelta(hours=24)
_DUPLICATES = timedelta(minutes=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Choices of operators."""

    installation: Installation = DEFAULT
    replicas: int = 1
    breadcrumbs_max_age: timedelta = timedelta(0)
    """Zero = no limit."""
    ack_wait: float = 30.0
    """Seconds without a heartbeat after which the broker delivers again."""
    batch: int = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """A durable on BREADCRUMBS."""

    stream: str
    durable: str
    subjects: tuple[str, ...]
    most_pending: int
    ledger: str = DURABLE
    """Key of the ledger under which its ack floor is noted, so that a lost one goes on where it was."""
    places: int = 16
    """Deliveries in work at once, in a worker."""


def all_breadcrumbs(installation: Installation) -> Listening:
    """The durable of the workers."""
    return Listening(
        stream=installation.stream(BREADCRUMBS),
        durable=installation.durable,
        subjects=(installation.subject("breadcrumbs.>"),),
        most_pending=50_000,  # a message that waits for quiet stays open, and must not keep others from being delivered
    )


def tool_calls(installation: Installation) -> Listening:
    """Delivers what may make tool calls a second time; each delivery stays open until the time-out of its calls."""
    schemas = (AGENT_RESPONSE, TOOL_REQUEST)
    return Listening(
        stream=installation.stream(BREADCRUMBS),
        durable=installation.calls_durable,
        subjects=tuple(installation.subject(f"breadcrumbs.*.*.{schema}") for schema in schemas),
        most_pending=50_000,
        ledger=f"{DURABLE}-calls",
    )


def replayed_breadcrumbs(installation: Installation) -> Listening:
    """Delivers every breadcrumb a second time: imported ones are remembered from here, so that no live one waits for them."""
    return replace(all_breadcrumbs(installation), durable=installation.replays_durable, ledger=f"{DURABLE}-replays", places=64)


def stream_configs(topology: Topology) -> tuple[StreamConfig, ...]:
    """The streams. CONTEXTS refuses a second event on a subject: "exactly one context". PROBES holds one empty message."""
    own = topology.installation
    common: dict[str, Any] = {"storage": StorageType.FILE, "num_replicas": topology.replicas, "allow_direct": True}
    once: dict[str, Any] = {"max_msgs_per_subject": 1, "discard": DiscardPolicy.NEW, "discard_new_per_subject": True}
    return (
        StreamConfig(
            name=own.stream(BREADCRUMBS),
            subjects=[own.subject("breadcrumbs.>")],
            max_age=topology.breadcrumbs_max_age.total_seconds(),
            duplicate_window=_DUPLICATES.total_seconds(),
            **common,
        ),
        StreamConfig(
            name=own.stream(CONTEXTS),
            subjects=[own.subject("contexts.>")],
            max_age=CONTEXTS_MAX_AGE.total_seconds(),
            duplicate_window=_DUPLICATES.total_seconds(),
            **once,
            **common,
        ),
        StreamConfig(
            name=own.stream(DEADLETTERS),
            subjects=[own.subject("deadletters.>")],
            duplicate_window=_DUPLICATES.total_seconds(),
            **once,
            **common,
        ),
        StreamConfig(name=own.stream(PROBES), subjects=[own.subject(PROBES_SUBJECT)], max_msgs_per_subject=1, **common),
    )


async def ensure_streams(js: JetStreamContext, topology: Topology) -> int:
    """Create missing streams, verify the others; returns the incarnation of BREADCRUMBS.

    Raises `Misconfigured` when a stream of that name would break a promise, and before it makes any while one is restored.
    """
    infos = [await _info(js, config) for config in stream_configs(topology)]
    for config, present in zip(stream_configs(topology), infos, strict=True):
        info = present or await js.add_stream(config)
        _verify(config, info)
        if config.name == topology.installation.stream(BREADCRUMBS):
            incarnation = incarnation_of(info)
    return incarnation


async def examine(js: JetStreamContext, topology: Topology) -> str:
    """Streams and durables that exist, in a sentence; makes none. Raises `Misconfigured` when something breaks a promise."""
    sentences = []
    for config in stream_configs(topology):
        info = await _info(js, config)
        if info is None:
            sentences.append(f"{config.name} is made by the first start")
            continue
        _verify(config, info)
        other = f" (num_replicas is {info.config.num_replicas}, CONTEXT_BUILDER_NATS__REPLICAS {config.num_replicas})"
        differs = info.config.num_replicas != config.num_replicas
        sentences.append(f"{config.name} holds {info.state.messages:,}{other if differs else ''}")
    own = topology.installation
    meanings = ("are in work", "may make calls without an answer", "are looked at for imports")
    for listening, pending in zip((all_breadcrumbs(own), tool_calls(own), replayed_breadcrumbs(own)), meanings, strict=True):
        try:
            durable = await js.consumer_info(listening.stream, listening.durable)
        except NotFoundError:
            continue
        _verify_durable(durable, listening)
        sentences.append(f"{durable.num_pending or 0:,} wait and {durable.num_ack_pending or 0:,} {pending}")
    return ", ".join(sentences)


async def _info(js: JetStreamContext, config: StreamConfig) -> StreamInfo | None:
    try:
        info = await js.stream_info(str(config.name))
    except NotFoundError:
        return None
    refuse_restoring(info)
    return info


def refuse_restoring(info: StreamInfo) -> None:
    """Raises `Misconfigured` for a stream that is not whole."""
    if RESTORING in (info.config.metadata or {}):
        raise Misconfigured(
            f"stream {info.config.name} is not whole: a restore makes it, or was interrupted; let it end, or run "
            "`context-builder restore FOLDER` again"
        )


def incarnation_of(info: StreamInfo) -> int:
    """Creation time of the stream in µs, or that of its restore: a recreated stream is another one and sorts after.

    nats-server 2.11 leaves a restored stream its creation time, 2.15 gives it a new one.
    """
    if info.created is None:
        raise Misconfigured(f"the server does not tell when stream {info.config.name} was created; use nats-server 2.11 or newer")
    return max(int(info.created.timestamp() * 1_000_000), int((info.config.metadata or {}).get(RESTORED_AT, 0)))


async def original_incarnation(js: JetStreamContext, installation: Installation) -> int:
    """The incarnation that older stores know: of a restored stream, that of its backup. Raises `Unavailable`."""
    with translated("reading the stream's state"):
        info = await js.stream_info(installation.stream(BREADCRUMBS))
    return int((info.config.metadata or {}).get(RESTORED_FROM, incarnation_of(info)))


async def current_incarnation(js: JetStreamContext, installation: Installation) -> int:
    """The incarnation of BREADCRUMBS. Raises `Unavailable`."""
    with translated("reading the stream's state"):
        return incarnation_of(await js.stream_info(installation.stream(BREADCRUMBS)))


async def ensure_durable(
    js: JetStreamContext, topology: Topology, floor: Place, incarnation: int, durable: Listening | None = None
) -> ConsumerInfo:
    """The durable, created where it is missing. Raises `Misconfigured` when one of its name would break a promise.

    floor: the last place known to be settled. In the same incarnation the new durable goes on after it, in a newer one it
    starts at the beginning, and without any (a fresh installation) it hears only what arrives from now on. durable: None = that
    of the workers.
    """
    listening = durable or all_breadcrumbs(topology.installation)
    info: ConsumerInfo
    try:
        info = await js.consumer_info(listening.stream, listening.durable)
    except NotFoundError:
        info = await js.add_consumer(listening.stream, _durable(topology, floor, incarnation, listening))
    _verify_durable(info, listening)
    return info


def _verify_durable(info: ConsumerInfo, listening: Listening) -> None:
    """A durable that gives up, or delivers only a part, would lose breadcrumbs silently. Raises `Misconfigured`."""
    have = info.config
    promises = {
        "ack_policy": (AckPolicy.EXPLICIT, have.ack_policy),
        "max_deliver": (-1, have.max_deliver),
        "filter_subjects": (sorted(listening.subjects), sorted(have.filter_subjects or [str(have.filter_subject)])),
    }
    for name, (ours, theirs) in promises.items():
        if ours != theirs:
            raise Misconfigured(
                f"durable {listening.durable} has {name} {theirs!r}, this service needs {ours!r}; delete it, the service makes "
                "it again"
            )


def _durable(topology: Topology, floor: Place, incarnation: int, listening: Listening) -> ConsumerConfig:
    if floor.incarnation == 0:
        start, sequence = DeliverPolicy.NEW, None
    elif floor.incarnation != incarnation:
        start, sequence = DeliverPolicy.ALL, None
    else:
        start, sequence = DeliverPolicy.BY_START_SEQUENCE, floor.sequence + 1
    one, *more = listening.subjects
    return ConsumerConfig(
        durable_name=listening.durable,
        deliver_policy=start,
        opt_start_seq=sequence,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=topology.ack_wait,
        max_deliver=-1,
        max_ack_pending=max(listening.most_pending, 4 * topology.batch),
        **({"filter_subjects": [one, *more]} if more else {"filter_subject": one}),
    )


def _verify(config: StreamConfig, info: StreamInfo) -> None:
    have = info.config
    promises = {
        "subjects": (config.subjects, have.subjects),
        "max_msgs_per_subject": (config.max_msgs_per_subject, have.max_msgs_per_subject),
        "discard_new_per_subject": (config.discard_new_per_subject, bool(have.discard_new_per_subject)),
        "allow_direct": (True, bool(have.allow_direct)),
        "storage": (StorageType.FILE, have.storage),
        "retention": (RetentionPolicy.LIMITS, have.retention),
        "max_msgs": (-1, have.max_msgs),
        "max_bytes": (-1, have.max_bytes),
    }
    if str(config.name).endswith(CONTEXTS) and 0 < (have.max_age or 0) < CONTEXTS_MAX_AGE.total_seconds():
        raise Misconfigured(
            f"stream {config.name} forgets after {have.max_age:.0f} s, which would let a second context through; "
            f"give it a max_age of {CONTEXTS_MAX_AGE.total_seconds():.0f} s or more"
        )
    for name, (ours, theirs) in promises.items():
        if ours != theirs:
            raise Misconfigured(
                f"stream {config.name} has {name} {theirs!r}, this service needs {ours!r}; change it with "
                f"`nats stream edit {config.name}`, or let the service create it"
            )


def walk_from(start: int) -> ConsumerConfig:
    """Of a consumer that reads a stream from this sequence on, once."""
    return ConsumerConfig(
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=start,
        ack_policy=AckPolicy.NONE,
        inactive_threshold=60,
        mem_storage=True,
        num_replicas=1,
    )
