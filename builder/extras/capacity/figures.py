"""`context-builder plan`: what an installation of given numbers needs, from measured constants.

`constants.json` is made of results of benchmarks (`tests/bench/test_plan.py`); each constant names its command, day and machine.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from math import ceil
from typing import Any

DAY_SECONDS = 86_400
UTILISATION = 0.5
"""Of a worker at the peak: the rest is for bursts, catching up, and a worker that is gone."""
VOLUME_FACTOR = 1.5
"""A volume beside what is expected on it."""
MIN_VOLUME_BYTES = 1e9
PARTITIONS = 16
"""Hash partitions of the tables in PostgreSQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What an installation has to take."""

    messages_per_day: int
    days_kept: int
    sessions: int
    """At work at the same time."""
    session_messages: int
    """Mean of what such a session holds."""
    text_bytes: int
    """Mean of a message's text in UTF-8."""
    replicas: int
    """Of the streams; as many NATS servers."""
    user_share: float
    """Of messages that trigger a context, 0 to 1."""
    peak: float
    """Messages a second at the busiest time, divided by the day's mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A measured number."""

    value: float
    unit: str
    source: str
    """Command, day, machine."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of the plan."""

    name: str
    value: float
    unit: str
    constants: str = ""
    """Beginnings of the names of the constants that it is made of."""


def read_constants() -> dict[str, Constant]:
    """By name."""
    text = files(__package__).joinpath("constants.json").read_text("utf-8")
    return {name: Constant(**fields) for name, fields in json.loads(text).items()}


def plan(expected: Expected, constants: Mapping[str, Constant]) -> tuple[Figure, ...]:
    """The figures, in the order of the page."""
    value = {name: constant.value for name, constant in constants.items()}
    total = expected.messages_per_day * expected.days_kept

    def each(what: str) -> float:
        """Of a message of the mean length."""
        return value[f"{what}_per_message"] + value[f"{what}_per_text_byte"] * expected.text_bytes

    breadcrumbs, postgres = total * each("stream_bytes"), total * each("postgres_bytes")
    contexts = expected.messages_per_day * expected.user_share * value["context_bytes"]
    rate = expected.messages_per_day / DAY_SECONDS * expected.peak
    busy = rate * ((1 - expected.user_share) / value["ingest_per_second"] + expected.user_share / value["contexts_per_second"])
    workers = max(1 if expected.replicas == 1 else 2, ceil(busy / UTILISATION))
    cached = expected.sessions * expected.session_messages * max(1.0, each("passages")) / workers
    memory = value["worker_bytes"] + cached * value["cached_passage_bytes"]
    return (
        Figure("messages kept", total, "messages"),
        Figure("messages at the peak", rate, "a second"),
        Figure("contexts at the peak", rate * expected.user_share, "a second"),
        Figure("stream BREADCRUMBS, one replica", breadcrumbs, "bytes", "stream_bytes"),
        Figure("stream CONTEXTS, 24 hours, one replica", contexts, "bytes", "context_bytes"),
        Figure("volume of each NATS server", _volume(breadcrumbs + contexts), "bytes", "stream_bytes context_bytes"),
        Figure("NATS, all replicas", (breadcrumbs + contexts) * expected.replicas, "bytes", "stream_bytes context_bytes"),
        Figure("writes of each NATS server at the peak", rate * each("stream_bytes"), "bytes a second", "stream_bytes"),
        Figure("SQLite of a worker that had all sessions", total * each("sqlite_bytes"), "bytes", "sqlite_bytes"),
        Figure("PostgreSQL", postgres, "bytes", "postgres_bytes"),
        Figure("volume of PostgreSQL", _volume(postgres), "bytes", "postgres_bytes"),
        Figure("partitions of PostgreSQL", PARTITIONS, "partitions"),
        Figure("messages in a partition", total / PARTITIONS, "messages"),
        Figure("workers", workers, "workers", "ingest_per_second contexts_per_second"),
        Figure("STORE__CACHED_PASSAGES of a worker", ceil(cached), "passages", "passages"),
        Figure("memory of a worker", memory, "bytes", "worker_bytes cached_passage_bytes"),
        Figure("rebuilding a store from the stream", total / value["ingest_per_second"] / 3600, "hours", "ingest_per_second"),
    )


def report(expected: Expected) -> dict[str, Any]:
    """{"expected", "figures", "constants"}."""
    constants = read_constants()
    return {
        "expected": asdict(expected),
        "figures": [asdict(figure) for figure in plan(expected, constants)],
        "constants": {name: asdict(constant) for name, constant in constants.items()},
    }


def _volume(bytes_expected: float) -> float:
    return max(MIN_VOLUME_BYTES, VOLUME_FACTOR * bytes_expected)
