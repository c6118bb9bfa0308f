"""One attempt at a message: decode → catch up → remember or answer."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from time import perf_counter

from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.profile import Profile
from builder.domain.record_consumers import Definitions
from builder.domain.selector import may_trigger
from builder.recall.scopes import scopes_before
from builder.remember.memory import decoded
from builder.service import ContextBuilder
from builder.worker.catch_up import CatchUp
from builder.worker.publishing import ContextPublisher
from builder.worker.quiet_time import QuietTime
from builder.worker.turns import Turns

DefinitionsBefore = Callable[[str, Place, datetime], Awaitable[Definitions]]
"""Workspace, place and moment → the definitions that hold there. Raises `Unavailable`."""
COPY_SECONDS = 1.0
"""After which a copy of a breadcrumb comes again, while the first one may be in work with another worker."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How an attempt ended; the fields are those of `DeliveryOutcome`."""

    outcome: str
    tokens: tuple[int, ...] = ()
    build: float | None = None
    reason: str = ""
    kind: str = ""
    pause: float = 0.0
    """Seconds after which the message shall come again, because a consumer waits for quiet; 0 = it is settled."""


async def no_definitions(_workspace: str, _place: Place, _moment: datetime) -> Definitions:
    """Where records make no consumers."""
    return ()


class Processor:
    """Remembers a message, and answers it when it triggers."""

    def __init__(
        self,
        builder: Callable[[], ContextBuilder],
        catch_up: CatchUp,
        contexts: ContextPublisher,
        decode: Callable[[StreamMessage], Breadcrumb],
        erase: Callable[[Breadcrumb], Awaitable[object]],
        now: Callable[[], datetime],
        max_age: timedelta,
        quiet_time: QuietTime,
        turns: Turns,
        definitions: DefinitionsBefore = no_definitions,
        is_settled: Callable[[Place], bool] = lambda _place: True,
    ) -> None:
        """builder: the current one; an attempt ends with the builder that it began with. decode: raises `Rejected`.

        erase: erases what a tombstone or a secret removes, and the secret's own message. max_age: triggers older than this are
        remembered and not answered. is_settled: whether no
        worker has the delivery of a place in work.
        """
        self._builder = builder
        self._catch_up = catch_up
        self._contexts = contexts
        self._decode = decode
        self._erase = erase
        self._now = now
        self._max_age = max_age
        self._quiet_time = quiet_time
        self._turns = turns
        self._definitions = definitions
        self._is_settled = is_settled

    async def process(self, message: StreamMessage, attempt: int) -> Ending:
        """Remembered, expired, superseded, waiting or published. Raises `Rejected` and `Unavailable`."""
        breadcrumb, builder = await decoded(self._decode, message), self._builder()
        consumers = () if message.replay else await self._consumers(builder, breadcrumb)
        session = await self._session(builder, breadcrumb)
        if consumers:
            await self._catch_up.before(message, scopes_before(replace(breadcrumb, session=session), consumers))
        turn = partial(self._turns.of, breadcrumb.workspace, session)
        if not consumers or self._is_old(breadcrumb):
            async with turn():
                stored = await builder.remember(breadcrumb)
            if breadcrumb.removes:
                await self._erase(breadcrumb)
            return Ending("expired" if consumers and not stored.breadcrumb.removes else "remembered")
        readiness = await self._quiet_time.readiness(breadcrumb, consumers)
        if not readiness.ready:
            async with turn():
                await builder.remember(breadcrumb)
            return Ending("waiting" if readiness.pause else "superseded", pause=readiness.pause)
        async with turn():
            start = perf_counter()
            stored, pages = await builder.begin(breadcrumb, readiness.ready)
            if stored.breadcrumb.removes:
                return Ending("remembered")
            if self._is_old(stored.breadcrumb):
                return Ending("expired")
            result = await builder.complete(pages)
            seconds = perf_counter() - start
        first = stored.breadcrumb.place
        if first < breadcrumb.place and not self._is_settled(first) and not await self._contexts.are_published(result):
            return Ending("waiting", pause=COPY_SECONDS)
        # `begin` returns the very breadcrumb when it is new to the store.
        is_repeat = attempt > 1 or message.deliveries > 1 or stored.breadcrumb is not breadcrumb
        tokens = await self._contexts.publish(result, is_repeat=is_repeat)
        return Ending("published" if result.contexts else "remembered", tokens=tokens, build=seconds, pause=readiness.pause)

    async def session_of(self, message: StreamMessage) -> str:
        """The session of the contexts that it triggers. Raises `Rejected` and `Unavailable`."""
        return await self._session(self._builder(), await decoded(self._decode, message))

    async def _session(self, builder: ContextBuilder, breadcrumb: Breadcrumb) -> str:
        await self._catch_up.callers(breadcrumb)
        return (await builder.in_session(breadcrumb)).session

    async def _consumers(self, builder: ContextBuilder, breadcrumb: Breadcrumb) -> tuple[Profile, ...]:
        if not may_trigger(breadcrumb):
            return ()
        definitions = await self._definitions(breadcrumb.workspace, breadcrumb.place, breadcrumb.received_at)
        return builder.consumers(breadcrumb, definitions)

    def _is_old(self, trigger: Breadcrumb) -> bool:
        return self._now() - trigger.received_at >= self._max_age
