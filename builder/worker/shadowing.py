"""Shadow profiles: built beside their consumers and never published; how their pages differ is kept.

A shadow is built after its consumer's context is published, and only while no delivery is in work, so it delays and fails none.
What waits is bounded; what finds no room is counted and left out.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal

from builder.domain.context import Context
from builder.domain.errors import Rejected, Unavailable
from builder.domain.profile import Profile
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.ports.broker import ShadowDifferences
from builder.publish.difference import difference
from builder.service import BuildResult, ContextBuilder
from builder.worker.resilience import UnexpectedError, guard

log = logging.getLogger("builder.worker.shadowing")

MAX_WAITING = 64
"""Builds of shadows that may wait; each keeps its consumer's page in memory."""
POLL_SECONDS = 0.02
"""Between two looks whether deliveries are in work."""

Outcome = Literal["built", "left out", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """A shadow to build, and what it is compared with."""

    builder: ContextBuilder
    context: Context
    profile: Profile
    """The consumer's."""
    shadow: Profile


class Shadowing:
    """Builds the shadows of what was published."""

    def __init__(
        self,
        shadows: Callable[[], tuple[Profile, ...]],
        differences: ShadowDifferences,
        busy: Callable[[], bool],
        count: Callable[[Outcome], None],
        max_waiting: int = MAX_WAITING,
    ) -> None:
        """shadows: the current ones. busy: whether deliveries are in work. count: called with the outcome of each shadow."""
        self._shadows = shadows
        self._differences = differences
        self._busy = busy
        self._count = count
        self._waiting: asyncio.Queue[_Trial] = asyncio.Queue(max_waiting)

    def note(self, builder: ContextBuilder, consumers: tuple[Profile, ...], context: Context) -> None:
        """A context was published. builder: that made it. consumers: of its trigger. Costs nothing without a shadow of it."""
        for shadow in (each for each in self._shadows() if each.shadow_of == context.consumer):
            profile = next(each for each in consumers if each.consumer == context.consumer)
            try:
                self._waiting.put_nowait(_Trial(builder=builder, context=context, profile=profile, shadow=shadow))
            except asyncio.QueueFull:
                self._count("left out")

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            trial = await self._waiting.get()
            while self._busy():
                await asyncio.sleep(POLL_SECONDS)
            await self._try(trial)

    async def _try(self, trial: _Trial) -> None:
        name = trial.shadow.consumer
        try:
            self._count(await guard(self._build(trial), log, f"shadow {name} of context {trial.context.id}"))
        except (Rejected, Unavailable) as error:
            log.warning("shadow %s of context %s has no difference: %s", name, trial.context.id, error)
            self._count("failed")
        except UnexpectedError:
            self._count("failed")

    async def _build(self, trial: _Trial) -> Outcome:
        trigger = await trial.builder.memory.store.facts(trial.context.trigger)
        if trigger is None or trigger.breadcrumb.removes:  # it was erased since
            return "left out"
        _, own_ms = await _timed(trial.builder, trigger, trial.profile)
        result, shadow_ms = await _timed(trial.builder, trigger, in_the_place_of(trial.profile, trial.shadow))
        page = next(iter(result.contexts), None)
        why = "; ".join(result.rejected) or ("" if page else "it waits for more answers of tools")
        await self._differences.keep(difference(trial.context, trial.shadow.consumer, page, (own_ms, shadow_ms), why))
        return "built"


def in_the_place_of(profile: Profile, shadow: Profile) -> Profile:
    """The shadow as the consumer's own profile: with its name, by which its words and its system prompt are known."""
    return replace(shadow, consumer=profile.consumer, triggers=profile.triggers, debounce=profile.debounce)


async def _timed(builder: ContextBuilder, trigger: StoredBreadcrumb, profile: Profile) -> tuple[BuildResult, float]:
    """The result, and the milliseconds that it took."""
    start = perf_counter()
    result = await builder.build_contexts(trigger, (profile,))
    return result, (perf_counter() - start) * 1000
