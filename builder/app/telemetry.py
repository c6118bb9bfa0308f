"""Metrics, the parts that gauges ask, and a log line of each delivery.

No label is a session, subject or schema, because each value costs memory.
"""

import asyncio
import logging
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from typing_extensions import override

from builder import __version__
from builder.adapters.nats.watchdog import Probe, Watchdog
from builder.adapters.templates.failures import LLM_HINTS, Failure
from builder.app.components import Components
from builder.domain.delivery import DeliveryOutcome
from builder.domain.errors import ChainTooLong
from builder.domain.timing import PARTS, Part
from builder.ports.store import StoreHealth
from builder.worker.backfill import Backfill
from builder.worker.jobs import Observer

log = logging.getLogger("builder.events")

REASONS = ("content", "context", "chain", "attempts")
OUTCOMES = ("remembered", "published", "superseded", "waiting", "expired", "rejected", "unavailable", "failed")
GATHER_SECONDS = 10.0
"""Old triggers of so many seconds share a line."""
_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_TOKENS = (100, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)


_COUNTERS = {
    "breadcrumbs": ("Breadcrumbs settled, by outcome", "outcome", OUTCOMES),
    "chains_stopped": ("Triggers whose causal chain exceeded a recursion limit", "", ()),
    "dead_letters": ("Rejected breadcrumbs, by what the reason is about", "reason", REASONS),
    "hint_failures": ("Breadcrumbs that a hint could not render: the generic one, or the bare text, is shown", "hint", ()),
    "job_failures": ("Runs of a job beside the deliveries that failed", "kind", ()),
    "page_failures": ("Times that a page template could not lay a page out: a bundled one does", "page", ()),
    "purged": ("Expired breadcrumbs erased by the schedule", "", ()),
    "reload_failures": ("Edits of profiles or templates that could not be taken", "", ()),
    "requests": ("Requests answered, by verb and outcome", "verb outcome", ()),
    "summaries": (
        "Summaries published, by who made them: extractive or a model; fallback = how often the endpoint failed",
        "by",
        ("extractive", "fallback"),
    ),
    "unread_parts": ("Parts of messages that no reader knows; a line on the page names each", "", ()),
}  # fmt: skip
_GAUGES = {
    "dead_letters_waiting": ("Dead letters that nobody has cleared", ""),
    "disk_free_bytes": ("Bytes free where the store lies", ""),
    "expired_timestamp_seconds": (
        "When a trigger was last settled without a context because it was too old, in seconds since 1970; 0 = never", ""
    ),
    "part_ok": ("Whether a part of /readyz works: 1 or 0", "part"),
    "queue_age_seconds": ("Age of the oldest breadcrumb not settled", ""),
    "queue_pending": ("Breadcrumbs that wait in the stream", ""),
    "ready": ("Whether /readyz says ok or degraded: 1 or 0", ""),
    "store_bytes": ("Bytes of the store's file and its log", ""),
    "stream_bytes": ("Bytes of a stream", "stream"),
    "vectors_missing": ("Breadcrumbs whose vectors are not filled in yet", ""),
}  # fmt: skip
_HISTOGRAMS = {
    "build_seconds": ("From remembering a trigger to its contexts", "", _SECONDS),
    "context_tokens": ("True tokens of a context", "", _TOKENS),
    "part_seconds": ("Parts of a delivery that published a context", "part", _SECONDS),
    "process_seconds": ("From fetch to settle, by outcome", "outcome", _SECONDS),
}
PREFIX = "context_builder_"


class Metrics(Observer):
    """Prometheus metrics; pull only, nothing is ever sent."""

    def __init__(self, registry: CollectorRegistry, gather: float = GATHER_SECONDS) -> None:
        """gather: seconds of old triggers per line."""
        self.registry = registry
        self.counters, self.gauges, self.histograms = dict[str, Counter](), dict[str, Gauge](), dict[str, Histogram]()
        for name, (text, labels, values) in _COUNTERS.items():
            self.counters[name] = Counter(PREFIX + name, text, labels.split(), registry=registry)
            for value in values:
                self.counters[name].labels(value)
        for name, (text, labels) in _GAUGES.items():
            self.gauges[name] = Gauge(PREFIX + name, text, labels.split(), registry=registry)
        for name, (text, labels, buckets) in _HISTOGRAMS.items():
            self.histograms[name] = Histogram(PREFIX + name, text, labels.split(), buckets=buckets, registry=registry)
        self._build_info = Info(f"{PREFIX}build", "What this worker runs", registry=registry)
        self._gather, self._old = gather, 0

    def describe(self, facts: Mapping[str, str]) -> None:
        """Show what runs now."""
        self._build_info.info(dict(facts))

    def parts(self, problems: Mapping[str, str], ready: bool) -> None:
        """problems: by part of `/readyz`; "" = it works."""
        self.gauges["ready"].set(ready)
        for part, problem in problems.items():
            self.gauges["part_ok"].labels(part).set(not problem)

    def answered(self, name: str, outcome: str, _seconds: float) -> None:
        """Count a request."""
        self.counters["requests"].labels(name, outcome).inc()

    @override
    def summarised(self, by: str) -> None:
        self.counters["summaries"].labels(by).inc()

    def template_failed(self, failure: Failure) -> None:
        """Logs each template's first failure since an edit."""
        if failure.kind == LLM_HINTS:
            self.counters["hint_failures"].labels(LLM_HINTS).inc()  # not of which schema: records name it
        else:
            self.counters[f"{failure.kind.removesuffix('s')}_failures"].labels(failure.name).inc()
        if failure.times == 1:
            log.warning("%s failed, %s is shown: %s; mend it", failure.file, failure.instead, failure.reason)

    @override
    def delivered(self, processed: DeliveryOutcome) -> None:
        """Count one delivery and write its log line."""
        self.counters["breadcrumbs"].labels(processed.outcome).inc()
        self.histograms["process_seconds"].labels(processed.outcome).observe(processed.seconds)
        if processed.build is not None:
            self.histograms["build_seconds"].observe(processed.build)
        if processed.outcome == "rejected":
            self.counters["dead_letters"].labels(processed.kind).inc()
        if processed.kind == ChainTooLong.kind:
            self.counters["chains_stopped"].inc()
        if processed.outcome == "expired":
            self._note_old()
        self.counters["unread_parts"].inc(processed.unread)
        for tokens in processed.tokens:
            self.histograms["context_tokens"].observe(tokens)
        parts = {part: processed.parts[part] for part in PARTS if part in processed.parts} if processed.contexts else {}
        for part, seconds in parts.items():
            self.histograms["part_seconds"].labels(part).observe(seconds)
        _log_delivery(processed, parts)

    @override
    def purged(self, breadcrumbs: int) -> None:
        self.counters["purged"].inc(breadcrumbs)

    @override
    def job_failed(self, name: str) -> None:
        self.counters["job_failures"].labels(name).inc()

    def _note_old(self) -> None:
        self.gauges["expired_timestamp_seconds"].set_to_current_time()
        self._old += 1
        if self._old == 1:
            asyncio.get_running_loop().call_later(self._gather, self._tell_old)

    def _tell_old(self) -> None:
        log.warning(
            "%d triggers were a day old when they came: they are remembered and get no context; they waited for a worker, or the "
            "clocks differ, which `context-builder doctor` tells",
            self._old,
        )
        self._old = 0


def _log_delivery(processed: DeliveryOutcome, parts: Mapping[Part, float]) -> None:
    is_bad = processed.outcome in {"rejected", "unavailable", "failed"}
    log.log(
        logging.WARNING if is_bad else logging.INFO,
        "%s %s seq=%d ms=%.1f contexts=%d%s%s%s",
        processed.outcome,
        processed.subject,
        processed.place.sequence,
        1e3 * processed.seconds,
        processed.contexts,
        " (published before)" if processed.outcome == "published" and not processed.contexts else "",
        "".join(f" {part}_ms={1e3 * seconds:.0f}" for part, seconds in parts.items()),
        f" reason={processed.reason}" if processed.reason else "",
        extra=_fields(processed),
    )


def _fields(processed: DeliveryOutcome) -> dict[str, Any]:
    _, workspace, session, schema, *_ = (*processed.subject.split(".", 3), "", "", "", "")
    fields: dict[str, Any] = {
        "outcome": processed.outcome,
        "workspace": workspace,
        "session": session,
        "schema": schema,
        "seq": processed.place.sequence,
        "ms": round(1e3 * processed.seconds, 1),
        "contexts": processed.contexts,
        "tokens": sum(processed.tokens),
    }
    parts = {f"{part}_ms": round(1e3 * processed.parts[part], 1) for part in PARTS if part in processed.parts}
    return fields | parts | ({"reason": processed.reason} if processed.reason else {})


SOURCES = ("*.py", "*.toml", "*.sql")


def show_gauges(
    metrics: Metrics,
    store: StoreHealth,
    data_dir: Path,
    probe: Probe,
    backfill: Backfill,
    watchdog: Watchdog,
) -> None:
    """Gauges ask their part whenever metrics are scraped."""

    def free() -> int:
        bytes_free = store.free_bytes()
        return shutil.disk_usage(data_dir).free if bytes_free is None else bytes_free

    metrics.gauges["disk_free_bytes"].set_function(free)
    metrics.gauges["store_bytes"].set_function(store.size_bytes)
    for name in probe.sizes:
        metrics.gauges["stream_bytes"].labels(name).set_function(partial(lambda stream: probe.sizes[stream], name))
    metrics.gauges["dead_letters_waiting"].set_function(lambda: probe.letters)
    metrics.gauges["vectors_missing"].set_function(lambda: backfill.missing)
    metrics.gauges["queue_pending"].set_function(lambda: watchdog.pending)
    metrics.gauges["queue_age_seconds"].set_function(lambda: _age(watchdog.oldest))


@cache
def code_revision() -> str:
    """Version and hash of the source."""
    package = Path(str(files("builder")))
    digest = sha256()
    for file in sorted(file for kind in SOURCES for file in package.rglob(kind)):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{__version__}+{digest.hexdigest()[:8]}"


def build_facts(name: str, core: Components) -> dict[str, str]:
    """For `context_builder_build_info`. name: of the installation."""
    profiles = core.profiles
    revisions = sorted(f"{profile.consumer} {profile.revision}" for profile in profiles)
    return {
        "name": name,
        "version": __version__,
        "code": code_revision(),
        "model": core.embedder.model,
        "templates": core.config.templates.revision,
        "profiles": sha256("\n".join(revisions).encode()).hexdigest()[:8],
    }


def _age(oldest: datetime | None) -> float:
    return (datetime.now(UTC) - oldest).total_seconds() if oldest else 0.0
