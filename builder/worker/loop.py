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
from builder.recall.index.keyed_lock import KeyedLock
from builder.recall.scopes import scopes
from builder.remember.secrets import holds_secret
from builder.service import BuildResult, ContextBuilder
from builder.wire.subjects import parse_breadcrumb_subject
from builder.worker.catch_up import CatchUp
from builder.worker.resilience import PAUSES, Backoff, Pauses, UnexpectedError, guard, heartbeat

log = logging.getLogger("builder.worker.loop")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the loop does with a delivery."""

    max_attempts: int
    max_age: timedelta
    """Triggers older than this are remembered and not answered."""
    heartbeat: float
    """Seconds between two signs of life."""
    pauses: Pauses = PAUSES
    """Before a delivery is retried."""


@dataclass(frozen=True, slots=True)
class _Ending:
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
        progress: Progress,
        publisher: Publisher,
        decode: Callable[[StreamMessage], Breadcrumb],
        encode: Callable[[Context], bytes],
        now: Callable[[], datetime],
        observe: Callable[[DeliveryOutcome], None],
        rules: Rules,
        in_work: set[Place],
        erase: Callable[[Breadcrumb], Awaitable[object]],
        archive: Archive,
    ) -> None:
        """builder: the current one; an attempt ends with the builder that it began with.

        in_work: places of running attempts, for catch-up. erase: erases what a tombstone or a secret removes, and the secret's
        own message. archive: erases secrets that cannot be read.
        """
        self._builder = builder
        self._catch_up = catch_up
        self._progress = progress
        self._publisher = publisher
        self._decode = decode
        self._encode = encode
        self._now = now
        self._observe = observe
        self._rules = rules
        self._in_work = in_work
        self._erase = erase
        self._archive = archive
        self._sessions = KeyedLock[str]()
        self._backoff = Backoff(rules.pauses)
        self._suspects = asyncio.Lock()

    async def process(self, delivery: Delivery) -> None:
        """Take one delivery from fetch to settle. Never raises."""
        start = perf_counter()
        message = delivery.arrival
        async with heartbeat(delivery.keep_alive, self._rules.heartbeat), self._sessions.of(_session(message.subject)):
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
                loop_stopped=ending.loop_stopped,
            )
        )

    async def _finish(self, message: StreamMessage) -> _Ending:
        """One attempt, no longer counted once it ended well."""
        ending = await self._attempt(message)
        await self._progress.clear_attempts(message.place)
        return ending

    async def _settle(self, delivery: Delivery) -> _Ending:
        """Exactly one of ack, retry and reject."""
        message = delivery.arrival
        try:
            ending = await guard(self._finish(message), log, f"{message.subject} at {message.place.sequence}")
        except Rejected as error:
            return await self._reject(delivery, error)
        except Unavailable as error:
            return await self._retry(delivery, error)
        except asyncio.CancelledError:
            await self._progress.undo_attempt(message.place)  # a shutdown is no fault of the breadcrumb
            raise
        except UnexpectedError as error:  # it has used up an attempt
            await delivery.retry(self._rules.pauses.first)
            return _Ending("failed", reason=str(error))
        self._backoff.note_success()
        await delivery.ack()
        return ending

    async def _attempt(self, message: StreamMessage) -> _Ending:
        async with self._attempt_number(message.place) as attempt:
            if attempt >= self._rules.max_attempts:
                raise Rejected(f"{attempt - 1} attempts ended in a crash or a bug; see the worker's log for the traceback")
            breadcrumb, builder = self._decode(message), self._builder()
            consumers = () if message.replay else builder.consumers(breadcrumb)
            if consumers:
                await self._catch_up.before(message, scopes(breadcrumb, consumers))
            await self._catch_up.askers(breadcrumb)
            if not consumers or self._is_old(breadcrumb):
                stored = await builder.remember(breadcrumb)
                if breadcrumb.removes:
                    await self._erase(breadcrumb)
                return _Ending("expired" if consumers and not stored.breadcrumb.removes else "remembered")
            start = perf_counter()
            stored, pages = await builder.begin(breadcrumb, consumers)
            if stored.breadcrumb.removes:
                return _Ending("remembered")
            if self._is_old(stored.breadcrumb):
                return _Ending("expired")
            # `begin` returns the very breadcrumb when it is new to the store.
            repeat = attempt > 1 or message.deliveries > 1 or stored.breadcrumb is not breadcrumb
            return await self._publish_all(await builder.complete(pages), repeat, start)

    def _is_old(self, trigger: Breadcrumb) -> bool:
        return self._now() - trigger.received_at >= self._rules.max_age

    @asynccontextmanager
    async def _attempt_number(self, place: Place) -> AsyncIterator[int]:
        """After a crash a delivery is retried alone, so a second crash cannot be blamed on its neighbours."""
        with self._working_on(place):
            attempt = await self._progress.start_attempt(place)
            if attempt == 1:
                yield attempt
                return
            await self._progress.undo_attempt(place)
        async with self._suspects:
            with self._working_on(place):
                yield await self._progress.start_attempt(place)

    @contextmanager
    def _working_on(self, place: Place) -> Iterator[None]:
        self._in_work.add(place)
        try:
            yield
        finally:
            self._in_work.discard(place)

    async def _publish_all(self, result: BuildResult, repeat: bool, start: float) -> _Ending:
        """Publish the contexts; then raise `Rejected` when a consumer gets none.

        repeat: an earlier attempt may have published. start: of the build, by `perf_counter`.
        """
        seconds = perf_counter() - start
        rejected, tokens = list(result.rejected), []
        for context in result.contexts:
            try:
                await self._publish(context, repeat)
                tokens.append(context.tokens)
                await self._announce(context)
            except AlreadyPublished:
                log.info("context %s was published before; the first one stands", context.id)
            except Rejected as error:
                rejected.append(f"{context.consumer}: {error}")
        if rejected:
            raise (ChainTooLong if result.loop_stopped else Rejected)("; ".join(rejected))
        return _Ending("published", tokens=tuple(tokens), build=seconds)

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
            log.warning("the compaction of context %s was not announced: %s", context.id, error)

    async def _reject(self, delivery: Delivery, why: Rejected) -> _Ending:
        """The attempts stay counted, so that catch-up skips the message at once."""
        try:
            await self._publisher.dead_letter(delivery.arrival, str(why))
            await self._erase_secret(delivery.arrival)
        except Unavailable as error:
            return await self._retry(delivery, error)
        await delivery.reject()
        return _Ending("rejected", reason=str(why), loop_stopped=isinstance(why, ChainTooLong))

    async def _erase_secret(self, message: StreamMessage) -> None:
        """Erase the message of a secret that cannot be read, where its subject names a session."""
        if not holds_secret(message.subject, message.data):
            return
        with contextlib.suppress(Rejected):
            address = parse_breadcrumb_subject(message.subject)
            await self._archive.delete_at(message.place, address.workspace, address.session)

    async def _retry(self, delivery: Delivery, error: Unavailable) -> _Ending:
        """Pause the loop: what is unavailable for one delivery is unavailable for the next."""
        pause = self._backoff.note_failure()
        try:
            await self._progress.undo_attempt(delivery.arrival.place)
        except Unavailable:
            log.warning("the store is unavailable too: the attempt at %d stays counted", delivery.arrival.place.sequence)
        await delivery.retry(pause)
        return _Ending("unavailable", reason=str(error))


def _session(subject: str) -> str:
    """Workspace and session of a subject that was not checked yet."""
    return ".".join(subject.split(".", 3)[1:3])
