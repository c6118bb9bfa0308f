"""Jobs: what runs beside the deliveries, by one runner."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic

from builder.domain.errors import BuilderError
from builder.domain.reports import DeliveryOutcome
from builder.worker.resilience import PACE, Backoff, Pace, Pauses, UnexpectedError, give_way, guard

log = logging.getLogger("builder.worker.jobs")

MAX_PAUSE_SECONDS = 5.0
"""After failures, unless the job runs less often."""
WARN_SECONDS = 60.0
"""Between two warnings about one job."""


class Observer:
    """What the worker and its jobs report. Nothing happens here; the metrics of the service override it."""

    def delivered(self, outcome: DeliveryOutcome) -> None:
        """A delivery was settled."""

    def summarised(self, by: str) -> None:
        """A summary was published; by: who made it, or "fallback" when the endpoint failed."""

    def purged(self, breadcrumbs: int) -> None:
        """So many expired breadcrumbs were erased."""

    def job_failed(self, name: str) -> None:
        """A run of a job failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work that is done again and again."""

    name: str
    every: float
    """Seconds between two runs."""
    run_once: Callable[[], Awaitable[object]]
    gives_way: bool = False
    """Whether a run waits for deliveries in work."""


@dataclass(slots=True, kw_only=True)
class JobRunner:
    """Runs jobs; a failure pauses the job, longer each time, and ends nothing."""

    busy: Callable[[], bool]
    """Whether deliveries are in work."""
    observer: Observer
    pace: Pace = PACE
    _warned: dict[str, float] = field(default_factory=dict)

    async def run(self, job: Job) -> None:
        """Run the job until cancelled."""
        backoff = Backoff(Pauses(first=self.pace.pauses.first, longest=max(job.every, MAX_PAUSE_SECONDS)))
        while True:
            pause = job.every
            if job.gives_way:
                await give_way(self.busy, self.pace)
            try:
                await guard(job.run_once(), log, job.name)
                backoff.note_success()
            except (BuilderError, UnexpectedError) as error:
                self._warn(job.name, error)
                pause = max(pause, backoff.note_failure())
            await asyncio.sleep(pause)

    def _warn(self, name: str, error: Exception) -> None:
        self.observer.job_failed(name)
        now = monotonic()
        if now >= self._warned.get(name, 0.0):
            self._warned[name] = now + WARN_SECONDS
            log.warning("%s failed and is tried again: %s", name, error)
