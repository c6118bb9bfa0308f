"""Jobs: what runs beside the deliveries, by one runner; with backoff, and the guard that catches bugs."""

import asyncio
import logging
import traceback
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

from builder.domain.delivery import DeliveryOutcome
from builder.domain.errors import BuilderError

log = logging.getLogger("builder.worker.jobs")

Value = TypeVar("Value")


class UnexpectedError(Exception):
    """Something outside the error tree was raised; its traceback is in the log."""


async def guard(work: Awaitable[Value], log: logging.Logger, doing: str) -> Value:
    """Await `work`; log any unexpected exception with its traceback and raise it as `UnexpectedError`.

    `Rejected`, `Unavailable` and `Misconfigured` pass through. Nothing but this and `tell` catches everything.
    """
    try:
        return await work
    except BuilderError:
        raise
    except Exception as error:
        log.error("a bug in %s:\n%s", doing, frames(error))  # noqa: TRY400 - an exception's text may quote what people wrote
        raise UnexpectedError(type(error).__name__) from error


def tell(name: str, call: Callable[[], None]) -> None:
    """Tell a job something. The traceback of what it raises is in the log, and nobody else is stopped."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - whose bug it is, is not known
        log.error("a bug in %s:\n%s", name, frames(error))  # noqa: TRY400 - see `guard`


def frames(error: BaseException) -> str:
    """The traceback of an exception and of its causes, with their types and without their texts."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    above = f"{frames(cause)}\nwhich led to\n" if cause else ""
    return f"{above}{''.join(traceback.format_tb(error.__traceback__))}{type(error).__name__}"


@dataclass(frozen=True, slots=True)
class Pauses:
    """Pauses after failures; each failure in a row doubles the pause."""

    first: float = 0.5
    """Seconds."""
    longest: float = 30.0
    """Seconds."""


PAUSES = Pauses()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How work beside the line gives way to live deliveries: seconds, but for `max_waits`."""

    rest: float = 0.5
    """Between two looks at what is to be done."""
    wait: float = 0.005
    max_waits: int = 40
    """Before one piece of work, so that steady load does not stop it."""
    pauses: Pauses = PAUSES


PACE = Pace()


async def give_way(busy: Callable[[], bool], pace: Pace) -> None:
    """Wait for deliveries in work."""
    waits = 0
    while busy() and waits < pace.max_waits:
        waits += 1
        await asyncio.sleep(pace.wait)


class Backoff:
    """Pauses a loop while a dependency is away. Failures of deliveries that run at once count as one."""

    def __init__(self, pauses: Pauses) -> None:
        self._pauses = pauses
        self._failures = 0
        self._until = 0.0

    def note_failure(self) -> float:
        """Lengthen the pause; returns it in seconds."""
        now = asyncio.get_running_loop().time()
        self._failures += now >= self._until
        pause = min(self._pauses.first * 2.0 ** min(self._failures - 1, 16), self._pauses.longest)
        self._until = now + pause
        return pause

    def note_success(self) -> None:
        """End the pause."""
        self._failures = 0
        self._until = 0.0

    async def wait(self) -> None:
        """Wait until the pause is over."""
        loop = asyncio.get_running_loop()
        while (seconds := self._until - loop.time()) > 0:
            await asyncio.sleep(seconds)


MAX_PAUSE_SECONDS = 5.0
"""After failures, unless the job runs less often."""
WARN_SECONDS = 60.0
"""Between two warnings about one job."""


class Observer:
    """Hears the reports of the worker and its jobs. Nothing happens here; the metrics of the service override it."""

    def delivered(self, outcome: DeliveryOutcome) -> None:
        """A delivery was settled."""

    def summarised(self, by: str) -> None:
        """A summary was published; by: who made it, or "fallback" when the endpoint failed."""

    def purged(self, breadcrumbs: int) -> None:
        """So many expired breadcrumbs were erased."""

    def job_failed(self, name: str) -> None:
        """A run of a job failed."""


class BackgroundJob(Observer, ABC):
    """A job with a state of its own, as extras bring it. It hears of deliveries, and may answer requests of its extra."""

    every: float = 1.0
    """Seconds between two runs; 0 where a run waits for work."""

    @abstractmethod
    async def run_once(self) -> None:
        """A piece of work. Raises `BuilderError`: it is run again after a pause."""

    def reset(self) -> None:
        """The profiles and templates are others now."""


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
