"""The loop over deliveries. The only place of ack, retry and reject, and of the outcome of each delivery."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from time import perf_counter

from builder.domain.breadcrumb import NO_SESSION, StreamMessage
from builder.domain.delivery_outcome import DeliveryOutcome
from builder.domain.errors import BuilderError, Rejected, Unavailable
from builder.domain.selector import ANSWER, FAILURE
from builder.ports.broker import Delivery
from builder.worker.attempts import Attempts
from builder.worker.erasure import TOMBSTONE
from builder.worker.processor import Ending, Processor
from builder.worker.publishing import DeadLetters
from builder.worker.resilience import PAUSES, Backoff, Pauses, UnexpectedError, guard, heartbeat
from builder.worker.turns import SessionOrder

log = logging.getLogger("builder.worker.loop")

TOOL_OUTCOMES = frozenset({ANSWER, FAILURE})


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
