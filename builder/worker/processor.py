"""One message: remembered, decided on, its contexts built and published, each once; or a dead letter."""

import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from time import monotonic, perf_counter

from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.context import Context
from builder.domain.errors import AlreadyPublished, ChainTooLong, NoContext, Rejected, Unavailable
from builder.domain.profile import Profile
from builder.domain.selector import may_trigger
from builder.domain.timing import timed, times_text
from builder.ports.archive import Archive
from builder.ports.contexts import Publisher
from builder.recall.scopes import scopes_before
from builder.remember.content import unread_parts
from builder.remember.secrecy import holds_secret
from builder.service import OPEN_TURN, BuildResult, ContextBuilder
from builder.wire.subjects import parse_breadcrumb_subject
from builder.worker.decide import Decision, Outcome, decide, quiet_ends, quiet_seconds
from builder.worker.log import Log
from builder.worker.tombstones import Forgetting
from builder.worker.turns import Turns

log = logging.getLogger("builder.worker.processor")


class ContextPublisher:
    """Publishes the contexts of one trigger."""

    def __init__(self, publisher: Publisher, encode: Callable[[Context], bytes]) -> None:
        """encode: raises `Rejected`."""
        self._publisher = publisher
        self._encode = encode

    async def publish(self, result: BuildResult, *, is_repeat: bool) -> tuple[int, ...]:
        """Publish the contexts; returns the tokens of each. Then raises `Rejected` when a consumer gets none; and `Unavailable`.

        is_repeat: an earlier attempt may have published.
        """
        rejected, tokens = list(result.rejected), []
        for context in result.contexts:
            try:
                # A repeat looks first: plain subscribers also receive an event that the stream refuses.
                if is_repeat and await self._publisher.holds(context):
                    raise AlreadyPublished(f"context {context.id} is in the stream")  # noqa: TRY301 - as the server says it
                await self._publisher.publish(context, self._encode(context), times_text())
                tokens.append(context.tokens)
                await self._announce(context)
            except AlreadyPublished:
                log.info("context %s was published before; the first one stands", context.id)
            except Rejected as error:
                rejected.append(f"{context.consumer}: {error}")
        if rejected:
            raise (ChainTooLong if result.loop_stopped else NoContext)("; ".join(rejected))
        return tuple(tokens)

    async def are_published(self, result: BuildResult) -> bool:
        """Whether the server holds all of the contexts. Raises `Unavailable`."""
        return all([await self._publisher.holds(context) for context in result.contexts])

    async def _announce(self, context: Context) -> None:
        """Best effort: the context is published, and must not be built again because of its announcement."""
        try:
            await self._publisher.announce(context)
        except Unavailable as error:
            log.warning("the compaction of context %s was not announced: %s", context.id, error)


class DeadLetters:
    """Publishes dead letters."""

    def __init__(self, publisher: Publisher, archive: Archive) -> None:
        """archive: erases secrets that cannot be read."""
        self._publisher = publisher
        self._archive = archive

    async def publish(self, message: StreamMessage, reason: str) -> None:
        """Publish the letter; then erase the message of a secret, where its subject names a session. Raises `Unavailable`."""
        await self._publisher.dead_letter(message, reason)
        if holds_secret(message.subject, message.data):
            with contextlib.suppress(Rejected):
                address = parse_breadcrumb_subject(message.subject)
                await self._archive.delete_at(message.place, address.workspace, address.session)


FROZEN_SECONDS = 1.0
"""An attempt that took longer may have been frozen, and another worker may have published since: it looks first."""
COPY_SECONDS = 1.0
"""After which a copy of a breadcrumb comes again, while another worker may have the first one in work."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How an attempt ended; the fields are those of `DeliveryOutcome`."""

    outcome: Outcome
    tokens: tuple[int, ...] = ()
    build: float | None = None
    reason: str = ""
    kind: str = ""
    unread: int = 0
    pause: float = 0.0
    """Seconds after which the message comes again, because a consumer waits; 0 = it is settled."""


class Processor:
    """Remembers a message, and builds its contexts when it triggers."""

    def __init__(
        self,
        builder: Callable[[], ContextBuilder],
        log: Log,
        contexts: ContextPublisher,
        forgetting: Forgetting,
        turns: Turns,
        max_age: timedelta,
        is_settled: Callable[[Place], bool] = lambda _place: True,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """builder: the current one; an attempt ends with the builder that it began with. max_age: older triggers get no context.

        is_settled: whether no worker has the delivery of a position in work. clock: seconds of this computer's uptime.
        """
        self._clock = clock
        self._builder = builder
        self._log = log
        self._contexts = contexts
        self._forgetting = forgetting
        self._turns = turns
        self._max_age = max_age
        self._is_settled = is_settled

    async def process(self, message: StreamMessage, attempt: int) -> Ending:
        """Raises `Rejected` and `Unavailable`."""
        breadcrumb = await self._log.read(message)
        return replace(await self._ending(message, breadcrumb, attempt), unread=unread_parts(breadcrumb))

    async def _ending(self, message: StreamMessage, breadcrumb: Breadcrumb, attempt: int) -> Ending:
        builder, start = self._builder(), self._clock()
        triggers = may_trigger(breadcrumb) and not message.replay
        with timed("catch_up"):
            position = breadcrumb.workspace, breadcrumb.place, breadcrumb.received_at
            consumers = builder.consumers(breadcrumb, await self._log.definitions(*position)) if triggers else ()
            session = await self._session(builder, breadcrumb)
            if consumers:
                await self._log.before(message, scopes_before(replace(breadcrumb, session=session), consumers))
        age = self._log.now() - breadcrumb.received_at
        seconds = 0.0 if age >= self._max_age else quiet_seconds(breadcrumb, consumers, age)
        later = await self._log.later(breadcrumb, seconds)
        decision = decide(breadcrumb, consumers, later, age, self._max_age)
        turn = self._turns.of(breadcrumb.workspace, session)
        if decision.outcome == "published":
            is_repeat = attempt > 1 or message.deliveries > 1
            ends = quiet_ends(breadcrumb, decision.ready, later)
            with timed("catch_up"):
                await self._catch_up(message, replace(breadcrumb, session=session), ends)
            return await self._publish(
                builder, breadcrumb, decision, ends, turn, lambda: is_repeat or self._clock() - start > FROZEN_SECONDS
            )
        await self._log.moves(breadcrumb)
        async with turn:
            stored = await builder.remember(breadcrumb)
        if stored.breadcrumb.is_erased:
            await self._forgetting.discard(breadcrumb)
        elif breadcrumb.removes:
            await self._forgetting.apply(breadcrumb)
        is_over = decision.outcome == "expired" and bool(stored.breadcrumb.removes)
        return Ending("remembered" if is_over else decision.outcome, pause=decision.pause)

    async def session_of(self, message: StreamMessage) -> str:
        """The session of the contexts that it triggers. Raises `Rejected` and `Unavailable`."""
        return await self._session(self._builder(), await self._log.read(message))

    async def _catch_up(
        self, message: StreamMessage, trigger: Breadcrumb, ends: Mapping[Place | None, Sequence[Profile]]
    ) -> None:
        """Remember what came within the quiet time."""
        for place, consumers in ends.items():
            if place is not None:
                await self._log.before(replace(message, place=place.next), scopes_before(trigger, tuple(consumers)))

    async def _publish(
        self,
        builder: ContextBuilder,
        trigger: Breadcrumb,
        decision: Decision,
        ends: Mapping[Place | None, Sequence[Profile]],
        turn: AbstractAsyncContextManager[None],
        may_be_repeat: Callable[[], bool],
    ) -> Ending:
        """Build and publish the contexts of a trigger, as of the first position of its breadcrumb."""
        async with turn:
            start = perf_counter()
            stored, pages = await builder.begin(trigger, tuple(ends.get(None, ())))
            if stored.breadcrumb.removes:
                await self._forgetting.discard(trigger)
                return Ending("remembered")
            if self._log.now() - stored.breadcrumb.received_at >= self._max_age:
                return Ending("expired")
            result = await builder.complete(pages)
            for place, consumers in ends.items():
                if place is not None:
                    result += await builder.build_contexts(stored, tuple(consumers), place)
            seconds = perf_counter() - start
        first = stored.breadcrumb.place
        if first < trigger.place and not self._is_settled(first) and not await self._contexts.are_published(result):
            return Ending("waiting", pause=COPY_SECONDS)
        # `begin` returns the very breadcrumb when it is new to the store.
        tokens = await self._contexts.publish(result, is_repeat=may_be_repeat() or stored.breadcrumb is not trigger)
        if not result.contexts:
            return Ending("remembered", build=seconds, reason=OPEN_TURN, pause=decision.pause)
        return Ending("published", tokens=tokens, build=seconds, pause=decision.pause)

    async def _session(self, builder: ContextBuilder, breadcrumb: Breadcrumb) -> str:
        await self._log.callers(breadcrumb)
        return (await builder.in_session(breadcrumb)).session
