"""The loop: decode → build → encode → publish → settle. The only place of ack, retry and reject, and of the line per event."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter

from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.context import Context
from builder.domain.delivery_outcome import DeliveryOutcome
from builder.domain.errors import AlreadyPublished, ChainTooLong, Rejected, Unavailable
from builder.ports.broker import Archive, Delivery, Publisher
from builder.ports.store import Progress
from builder.recall.scopes import scopes
from builder.remember.secrets import holds_secret
from builder.service import BuildResult, ContextBuilder
from builder.wire.subjects import parse_breadcrumb_subject
from builder.worker.catch_up import CatchUp
from builder.worker.resilience import Backoff, KeyedLock, UnexpectedError, guard, heartbeat

log = logging.getLogger("builder.worker.loop")

FIRST_RETRY, LONGEST_RETRY = 0.5, 30.0
"""Seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """max_age: triggers older than this are remembered and not answered. heartbeat: seconds between two signs of life."""

    max_attempts: int
    max_age: timedelta
    heartbeat: float


@dataclass(frozen=True, slots=True)
class _Done:
    """How a delivery ended; the fields are those of `DeliveryOutcome`."""

    outcome: str
    tokens: tuple[int, ...] = ()
    build: float | None = None
    reason: str = ""
    loop_stopped: bool = False


class Worker:
    """Processes deliveries: sessions side by side, one session in order."""

    def __init__(
        self,
        builder: Callable[[], ContextBuilder],
        catch_up: CatchUp,
        ledger: Progress,
        publisher: Publisher,
        decode: Callable[[StreamMessage], Breadcrumb],
        encode: Callable[[Context], bytes],
        now: Callable[[], datetime],
        observe: Callable[[DeliveryOutcome], None],
        rules: Rules,
        in_work: set[Place],
        forget: Callable[[Breadcrumb], Awaitable[object]],
        archive: Archive,
    ) -> None:
        """Everything is passed in. builder: that of now; an attempt ends with the one that it began with.

        in_work: kept up to date here, read by catch-up. forget: erases what a tombstone or a secret removes, and
        the secret's own message. archive: erases secrets that cannot be read.
        """
        self._builder = builder
        self._catch_up = catch_up
        self._ledger = ledger
        self._publisher = publisher
        self._decode = decode
        self._encode = encode
        self._now = now
        self._observe = observe
        self._rules = rules
        self._in_work = in_work
        self._forget = forget
        self._archive = archive
        self._locks = KeyedLock()
        self._circuit = Backoff(FIRST_RETRY, LONGEST_RETRY)
        self._suspects = asyncio.Lock()

    async def process(self, delivery: Delivery) -> None:
        """Take one delivery from fetch to settle. Never raises."""
        began = perf_counter()
        arrival = delivery.arrival
        async with heartbeat(delivery.keep_alive, self._rules.heartbeat), self._locks.of(_session(arrival.subject)):
            await self._circuit.closed()
            done = await self._settle(delivery)
        self._observe(
            DeliveryOutcome(
                subject=arrival.subject,
                sequence=arrival.place.sequence,
                replay=arrival.replay,
                outcome=done.outcome,
                seconds=perf_counter() - began,
                build=done.build,
                tokens=done.tokens,
                reason=done.reason,
                loop_stopped=done.loop_stopped,
            )
        )

    async def _finish(self, arrival: StreamMessage) -> _Done:
        """One attempt, forgotten once it is through."""
        done = await self._attempt(arrival)
        await self._ledger.clear_attempts(arrival.place)
        return done

    async def _settle(self, delivery: Delivery) -> _Done:
        """Exactly one of ack, retry and reject."""
        arrival = delivery.arrival
        try:
            done = await guard(self._finish(arrival), log, f"{arrival.subject} at {arrival.place.sequence}")
        except Rejected as error:
            return await self._reject(delivery, error)
        except Unavailable as error:
            return await self._retry(delivery, error)
        except asyncio.CancelledError:
            await self._ledger.undo_attempt(arrival.place)  # an end that came in between is no fault of the breadcrumb
            raise
        except UnexpectedError as error:  # it has used up an attempt
            await delivery.retry(FIRST_RETRY)
            return _Done("failed", reason=str(error))
        self._circuit.close()
        await delivery.ack()
        return done

    async def _attempt(self, arrival: StreamMessage) -> _Done:
        async with self._begun(arrival.place) as attempt:
            if attempt >= self._rules.max_attempts:
                raise Rejected(f"{attempt - 1} attempts ended in a crash or a bug; see the worker's log for the traceback")
            breadcrumb, builder = self._decode(arrival), self._builder()
            wanted = () if arrival.replay else builder.consumers(breadcrumb)
            if wanted:
                await self._catch_up.before(arrival, scopes(breadcrumb, wanted))
            await self._catch_up.askers(breadcrumb)
            if not wanted or self._is_old(breadcrumb):
                held = await builder.remember(breadcrumb)
                if breadcrumb.removes:
                    await self._forget(breadcrumb)
                return _Done("expired" if wanted and not held.breadcrumb.removes else "remembered")
            began = perf_counter()
            held, begun = await builder.begin(breadcrumb, wanted)
            if held.breadcrumb.removes:
                return _Done("remembered")
            if self._is_old(held.breadcrumb):
                return _Done("expired")
            # `begin` gives back the very breadcrumb when it is new to the store.
            repeat = attempt > 1 or arrival.deliveries > 1 or held.breadcrumb is not breadcrumb
            return await self._answer(await builder.complete(begun), repeat, began)

    def _is_old(self, trigger: Breadcrumb) -> bool:
        return self._now() - trigger.received_at >= self._rules.max_age

    @asynccontextmanager
    async def _begun(self, place: Place) -> AsyncIterator[int]:
        """The number of the attempt. What an attempt died on is tried again alone, so that its next death counts for no other."""
        with self._working_on(place):
            attempt = await self._ledger.start_attempt(place)
            if attempt == 1:
                yield attempt
                return
            await self._ledger.undo_attempt(place)
        async with self._suspects:
            with self._working_on(place):
                yield await self._ledger.start_attempt(place)

    @contextmanager
    def _working_on(self, place: Place) -> Iterator[None]:
        self._in_work.add(place)
        try:
            yield
        finally:
            self._in_work.discard(place)

    async def _answer(self, built: BuildResult, repeat: bool, began: float) -> _Done:
        """Publish. A context that cannot be had takes no other with it; then `Rejected`.

        repeat: an earlier attempt may have come as far as this. began: when the build did, by `perf_counter`.
        """
        seconds = perf_counter() - began
        rejected, tokens = list(built.rejected), []
        for context in built.contexts:
            try:
                await self._publish(context, repeat)
                tokens.append(context.tokens)
                await self._announce(context)
            except AlreadyPublished:
                log.info("context %s was published before; the first one stands", context.id)
            except Rejected as error:
                rejected.append(f"{context.consumer}: {error}")
        if rejected:
            raise (ChainTooLong if built.loop_stopped else Rejected)("; ".join(rejected))
        return _Done("published", tokens=tuple(tokens), build=seconds)

    async def _publish(self, context: Context, repeat: bool) -> None:
        """Raises `AlreadyPublished`. A repeat looks first: plain subscribers hear what the stream refuses, too."""
        if repeat and await self._publisher.holds(context):
            raise AlreadyPublished(f"context {context.id} is in the stream")
        await self._publisher.publish(context, self._encode(context))

    async def _announce(self, context: Context) -> None:
        """Best effort: the context is out, and must not be built again because of its announcement."""
        try:
            await self._publisher.announce(context)
        except Unavailable as error:
            log.warning("nobody was told that context %s was compacted: %s", context.id, error)

    async def _reject(self, delivery: Delivery, why: Rejected) -> _Done:
        """The attempts stay counted, so that catch-up passes it over at once."""
        try:
            await self._publisher.dead_letter(delivery.arrival, str(why))
            await self._erase_secret(delivery.arrival)
        except Unavailable as error:
            return await self._retry(delivery, error)
        await delivery.reject()
        return _Done("rejected", reason=str(why), loop_stopped=isinstance(why, ChainTooLong))

    async def _erase_secret(self, arrival: StreamMessage) -> None:
        """A secret that cannot be read is one all the same. Where its subject names no session nobody can say whose it is."""
        if not holds_secret(arrival.subject, arrival.data):
            return
        with contextlib.suppress(Rejected):
            address = parse_breadcrumb_subject(arrival.subject)
            await self._archive.delete_at(arrival.place, address.workspace, address.session)

    async def _retry(self, delivery: Delivery, error: Unavailable) -> _Done:
        """Pauses everybody: what is unavailable for one delivery is unavailable for the next."""
        delay = self._circuit.open()
        try:
            await self._ledger.undo_attempt(delivery.arrival.place)
        except Unavailable:
            log.warning("the store is away too: the attempt at %d stays counted", delivery.arrival.place.sequence)
        await delivery.retry(delay)
        return _Done("unavailable", reason=str(error))


def _session(subject: str) -> str:
    """Workspace and session, before anybody has checked the subject."""
    return ".".join(subject.split(".", 3)[1:3])
