"""The loop over deliveries: the only place of ack, retry and reject, of the outcome of each, and of attempts across crashes.

`explain` says why a context was late: its times come from the parts that `timed` measures.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from time import perf_counter

from builder.connection.heartbeat import heartbeat
from builder.domain.breadcrumb import NO_SESSION, TOMBSTONE, TOOL_ERROR, TOOL_RESPONSE, Place, StreamMessage
from builder.domain.delivery import DeliveryOutcome
from builder.domain.errors import BuilderError, NoMoreAttempts, Rejected, Unavailable
from builder.domain.timing import stopwatch
from builder.ports.stream import Delivery
from builder.wire.traces import span
from builder.worker.decide import CAUSES, RULES
from builder.worker.jobs import PAUSES, Backoff, Observer, Pace, Pauses, UnexpectedError, give_way, guard, tell
from builder.worker.log import Log
from builder.worker.processor import DeadLetters, Ending, Processor
from builder.worker.turns import SessionOrder

log = logging.getLogger("builder.worker.loop")

TOOL_RESULTS = frozenset({TOOL_RESPONSE, TOOL_ERROR})
IMPORTS_AT_ONCE = 2
"""Imported breadcrumbs in work at once: one is embedded while the other one is written."""


class Attempts:
    """Numbers the attempts at each position. An attempt is counted before it begins, so a crash leaves it counted."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._suspects = asyncio.Lock()

    @asynccontextmanager
    async def start(self, place: Place) -> AsyncIterator[int]:
        """The number of the attempt, 1 for the first. Raises `Rejected` when there were too many, and `Unavailable`.

        After a crash a delivery is retried alone, so that a second crash is counted for it and for no other.
        """
        async with self._counted(place) as attempt:
            if attempt == 1:
                yield attempt
                return
            await self._log.store.undo_attempt(place)
        async with self._suspects, self._counted(place) as attempt:
            yield attempt

    @asynccontextmanager
    async def _counted(self, place: Place) -> AsyncIterator[int]:
        self._log.in_work.add(place)
        try:
            attempt = await self._log.store.start_attempt(place)
            if attempt >= self._log.max_attempts:
                raise NoMoreAttempts(f"{attempt - 1} attempts ended in a crash or a bug; see the worker's log for the traceback")
            yield attempt
        finally:
            self._log.in_work.discard(place)


class Worker:
    """Processes deliveries: sessions side by side, one session in order."""

    def __init__(
        self,
        processor: Processor,
        log: Log,
        letters: DeadLetters,
        observers: Sequence[tuple[str, Observer]],
        every: float,
        pauses: Pauses = PAUSES,
    ) -> None:
        """observers: each with a name for the log. every: seconds between heartbeats. pauses: before a delivery is retried."""
        self._processor = processor
        self._store = log.store
        self._now = log.now
        self._attempts = Attempts(log)
        self._letters = letters
        self._observers = observers
        self._every = every
        self._pauses = pauses
        self._sessions = SessionOrder()
        self._backoff = Backoff(pauses)

    async def process(self, delivery: Delivery) -> None:
        """Take one delivery from fetch to settle. Never raises."""
        start, message = perf_counter(), delivery.arrival
        _, workspace, session, schema, *_ = (*message.subject.split(".", 3), "", "", "", "")
        # A tool result without a session takes the turn of its call's session; a tombstone without one waits for every page.
        home = self._home(message) if session == NO_SESSION and schema in TOOL_RESULTS and not message.replay else None
        alone = (session, schema) == (NO_SESSION, TOMBSTONE)
        turn = self._sessions.turn(workspace, session, message.place.sequence, home, alone=alone)
        with span("process breadcrumb", "consumer", message.trace) as note, stopwatch(span) as seconds:
            async with heartbeat(delivery.keep_alive, self._every), turn:
                await self._backoff.wait()
                seconds["wait"] = max((self._now() - message.received_at).total_seconds(), 0.0)
                ending = await self._settled(delivery)
            note(
                error=ending.outcome in CAUSES.values(),
                outcome=ending.outcome,
                sequence=message.place.sequence,
                contexts=len(ending.tokens),
                tokens=sum(ending.tokens),
                wait_ms=round(1e3 * seconds["wait"], 1),
            )
        outcome = DeliveryOutcome(
            subject=message.subject,
            place=message.place,
            replay=message.replay,
            outcome=ending.outcome,
            seconds=perf_counter() - start,
            build=ending.build,
            tokens=ending.tokens,
            reason=ending.reason,
            kind=ending.kind,
            unread=ending.unread,
            parts=seconds,
        )
        for name, observer in self._observers:
            tell(name, partial(observer.delivered, outcome))

    async def _home(self, message: StreamMessage) -> str:
        with suppress(BuilderError, UnexpectedError):
            return await guard(self._processor.session_of(message), log, f"the caller of {message.place.sequence}")
        return NO_SESSION

    async def _settled(self, delivery: Delivery) -> Ending:
        message = delivery.arrival
        try:
            ending = await guard(self._attempt(message), log, f"{message.subject} at {message.place.sequence}")
            self._backoff.note_success()
        except (Rejected, Unavailable, UnexpectedError, asyncio.CancelledError) as error:
            ending = await self._failed(message, error)
            if ending.outcome == "cancelled":
                raise
        rule = RULES[ending.outcome]
        if rule.settle == "reject":
            await delivery.reject()
        elif rule.settle == "retry" or ending.pause:
            await delivery.retry(ending.pause)
        else:
            await delivery.ack()
        return ending

    async def _attempt(self, message: StreamMessage) -> Ending:
        async with self._attempts.start(message.place) as number:
            ending = await self._processor.process(message, number)
        await self._store.clear_attempts(message.place)
        return ending

    async def _failed(self, message: StreamMessage, error: BaseException) -> Ending:
        """The ending of an attempt that raised. A failed dependency pauses the loop: the next delivery needs it, too."""
        outcome = next(outcome for cause, outcome in CAUSES.items() if isinstance(error, cause))
        if isinstance(error, Rejected):
            try:
                await self._letters.publish(message, str(error))
            except Unavailable as unavailable:
                return await self._failed(message, unavailable)
        if RULES[outcome].attempt == "undo":
            try:
                await self._store.undo_attempt(message.place)
            except Unavailable:
                log.warning(
                    "the store is unavailable too: the attempt at %d is taken back by the next one", message.place.sequence
                )
        pause = self._backoff.note_failure() if outcome == "unavailable" else self._pauses.first
        return Ending(outcome, reason=str(error), kind=getattr(error, "kind", ""), pause=pause)


class Imports:
    """Processes imported breadcrumbs while nobody waits for a context, and acknowledges the live ones: the inbox has them."""

    def __init__(self, worker: Worker, busy: Callable[[], bool], every: float, pace: Pace) -> None:
        """busy: whether live deliveries wait or are in work. every: seconds between two heartbeats."""
        self._worker = worker
        self._busy = busy
        self._every = every
        self._pace = pace
        self._slots = asyncio.Semaphore(IMPORTS_AT_ONCE)

    async def process(self, delivery: Delivery) -> None:
        """Settle one delivery. Never raises."""
        if not delivery.arrival.replay:
            await delivery.ack()
            return
        async with heartbeat(delivery.keep_alive, self._every), self._slots:
            await give_way(self._busy, self._pace)
            await self._worker.process(delivery)
