"""The loop over deliveries: the only place of ack, retry and reject, of the outcome of each, and of attempts across crashes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from time import perf_counter

from builder.domain.breadcrumb import NO_SESSION, Place, StreamMessage
from builder.domain.errors import BuilderError, NoMoreAttempts, Rejected, Unavailable
from builder.domain.reports import DeliveryOutcome
from builder.domain.selector import ANSWER, FAILURE
from builder.ports.broker import Delivery
from builder.ports.store import Progress
from builder.worker.erasure import TOMBSTONE
from builder.worker.processor import Ending, Processor
from builder.worker.publishing import DeadLetters
from builder.worker.resilience import PAUSES, Backoff, Pauses, UnexpectedError, guard, heartbeat
from builder.worker.turns import SessionOrder

log = logging.getLogger("builder.worker.loop")

TOOL_OUTCOMES = frozenset({ANSWER, FAILURE})


class Attempts:
    """Numbers the attempts at each place. An attempt is counted before it begins, so a crash leaves it counted."""

    def __init__(self, progress: Progress, in_work: set[Place], max_attempts: int) -> None:
        """in_work: places of running attempts, for catch-up."""
        self._progress = progress
        self._in_work = in_work
        self._max_attempts = max_attempts
        self._suspects = asyncio.Lock()

    @asynccontextmanager
    async def start(self, place: Place) -> AsyncIterator[int]:
        """The number of the attempt, 1 for the first. Raises `Rejected` when there were too many, and `Unavailable`.

        After a crash a delivery is retried alone, so that a second crash is counted for it and for no other.
        """
        with self._working_on(place):
            attempt = await self._progress.start_attempt(place)
            if attempt == 1:
                self._check(attempt)
                yield attempt
                return
            await self._progress.undo_attempt(place)
        async with self._suspects:
            with self._working_on(place):
                attempt = await self._progress.start_attempt(place)
                self._check(attempt)
                yield attempt

    async def undo(self, place: Place) -> None:
        """Take back the last attempt. Raises `Unavailable`."""
        await self._progress.undo_attempt(place)

    async def clear(self, place: Place) -> None:
        """Remove the attempts of a finished message. Raises `Unavailable`."""
        await self._progress.clear_attempts(place)

    def _check(self, attempt: int) -> None:
        if attempt >= self._max_attempts:
            raise NoMoreAttempts(f"{attempt - 1} attempts ended in a crash or a bug; see the worker's log for the traceback")

    @contextmanager
    def _working_on(self, place: Place) -> Iterator[None]:
        self._in_work.add(place)
        try:
            yield
        finally:
            self._in_work.discard(place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Times of the loop."""

    heartbeat: float
    """Seconds between two signs of life of a delivery."""
    pauses: Pauses = PAUSES
    """Before a delivery is retried."""


class Worker:
    """Processes deliveries: sessions side by side, one session in order."""

    def __init__(
        self,
        processor: Processor,
        attempts: Attempts,
        letters: DeadLetters,
        observe: Callable[[DeliveryOutcome], None],
        rules: Rules,
    ) -> None:
        """observe: is called with the outcome of each delivery."""
        self._processor = processor
        self._attempts = attempts
        self._letters = letters
        self._observe = observe
        self._rules = rules
        self._sessions = SessionOrder()
        self._backoff = Backoff(rules.pauses)

    async def process(self, delivery: Delivery) -> None:
        """Take one delivery from fetch to settle. Never raises."""
        start = perf_counter()
        message = delivery.arrival
        async with heartbeat(delivery.keep_alive, self._rules.heartbeat), self._turn(message):
            await self._backoff.wait()
            ending = await self._settle(delivery)
        self._observe(
            DeliveryOutcome(
                subject=message.subject,
                sequence=message.place.sequence,
                replay=message.replay,
                outcome=ending.outcome,
                seconds=perf_counter() - start,
                build=ending.build,
                tokens=ending.tokens,
                reason=ending.reason,
                kind=ending.kind,
            )
        )

    def _turn(self, message: StreamMessage) -> AbstractAsyncContextManager[None]:
        """An answer of no session takes the turn of its call's session; a tombstone of none waits for every page it may be on."""
        _, workspace, session, schema, *_ = (*message.subject.split(".", 3), "", "", "", "")
        may_join = session == NO_SESSION and schema in TOOL_OUTCOMES and not message.replay
        home, alone = self._home(message) if may_join else None, (session, schema) == (NO_SESSION, TOMBSTONE)
        return self._sessions.turn(workspace, session, message.place.sequence, home, alone=alone)

    async def _home(self, message: StreamMessage) -> str:
        """The session of the call. What fails here fails in the attempt, too, and is counted there."""
        try:
            return await guard(self._processor.session_of(message), log, f"the caller of {message.place.sequence}")
        except (BuilderError, UnexpectedError):
            return NO_SESSION

    async def _settle(self, delivery: Delivery) -> Ending:
        """Exactly one of ack, retry and reject."""
        message = delivery.arrival
        try:
            ending = await guard(self._attempt(message), log, f"{message.subject} at {message.place.sequence}")
        except Rejected as error:
            return await self._reject(delivery, error)
        except Unavailable as error:
            return await self._retry(delivery, error)
        except asyncio.CancelledError:
            await self._attempts.undo(message.place)  # the shutdown caused it, not the breadcrumb
            raise
        except UnexpectedError as error:  # it has used up an attempt
            await delivery.retry(self._rules.pauses.first)
            return Ending("failed", reason=str(error))
        self._backoff.note_success()
        await (delivery.retry(ending.pause) if ending.pause else delivery.ack())
        return ending

    async def _attempt(self, message: StreamMessage) -> Ending:
        """One attempt, no longer counted once it ended well."""
        async with self._attempts.start(message.place) as attempt:
            ending = await self._processor.process(message, attempt)
        await self._attempts.clear(message.place)
        return ending

    async def _reject(self, delivery: Delivery, why: Rejected) -> Ending:
        """The attempts stay counted, so that catch-up skips the message at once."""
        try:
            await self._letters.publish(delivery.arrival, str(why))
        except Unavailable as error:
            return await self._retry(delivery, error)
        await delivery.reject()
        return Ending("rejected", reason=str(why), kind=why.kind)

    async def _retry(self, delivery: Delivery, error: Unavailable) -> Ending:
        """Pause the loop: what is unavailable for one delivery is unavailable for the next."""
        pause = self._backoff.note_failure()
        try:
            await self._attempts.undo(delivery.arrival.place)
        except Unavailable:
            log.warning("the store is unavailable too: the attempt at %d stays counted", delivery.arrival.place.sequence)
        await delivery.retry(pause)
        return Ending("unavailable", reason=str(error))
