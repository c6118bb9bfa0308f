"""The quiet time of a message (`debounce`): which consumers answer it now, which later, and which not at all.

What decides are the stream's times alone, so every worker and every redelivery decides the same.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.domain.recall import StoredBreadcrumb
from builder.ports.broker import Stream
from builder.recall.questions import follows_at_once, is_same_speaker
from builder.remember.memory import decoded


@dataclass(frozen=True, slots=True)
class Readiness:
    """What the consumers of a message do."""

    ready: tuple[Profile, ...]
    """They get their contexts now."""
    pause: float = 0.0
    """Seconds until the next of the others is due; 0 = no consumer waits."""


class QuietTime:
    """Reads what came behind a message."""

    def __init__(
        self,
        stream: Stream,
        last: Callable[[], Awaitable[Place]],
        decode: Callable[[StreamMessage], Breadcrumb],
        now: Callable[[], datetime],
        facts: Callable[[Breadcrumb], Awaitable[StoredBreadcrumb | None]],
    ) -> None:
        """last: place of the newest message of the stream; raises `Unavailable`. decode: raises `Rejected`.

        facts: of the store, which has everything in front of the trigger.
        """
        self._stream = stream
        self._last = last
        self._decode = decode
        self._now = now
        self._facts = facts

    async def readiness(self, trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> Readiness:
        """A consumer without `debounce` is ready at once, and so is every one for what no person says. Raises `Unavailable`."""
        if trigger.role != "user" or not any(profile.debounce for profile in consumers):
            return Readiness(consumers)
        age = (self._now() - trigger.received_at).total_seconds()
        due = tuple(profile for profile in consumers if profile.debounce <= age)
        later = await self._later(trigger, max((profile.debounce for profile in due), default=0))
        ready = tuple(profile for profile in due if not any(_supersedes(crumb, trigger, profile) for crumb in later))
        # A clock behind the stream's asks again each quiet time, not once after all of the difference.
        pauses = [min(profile.debounce - age, profile.debounce) for profile in consumers if profile.debounce > age]
        return Readiness(ready, min(pauses, default=0.0))

    async def _later(self, trigger: Breadcrumb, seconds: float) -> list[Breadcrumb]:
        """What came in the session less than so many seconds behind the trigger."""
        if not seconds:
            return []
        crumbs: list[Breadcrumb] = []
        until = (await self._last()).next
        async for message in self._stream.walk(trigger.workspace, trigger.session, trigger.place, until):
            if (message.received_at - trigger.received_at).total_seconds() >= seconds:
                break
            try:
                crumb = await decoded(self._decode, message)
            except Rejected:
                continue
            crumbs += [] if message.replay or await self._is_repeat(crumb, trigger) else [crumb]
        return crumbs

    async def _is_repeat(self, crumb: Breadcrumb, trigger: Breadcrumb) -> bool:
        """Whether it was sent before, up to the trigger: a copy gets no context of its own, so it takes no other's place."""
        stored = await self._facts(crumb)
        return stored is not None and stored.breadcrumb.place <= trigger.place


def _supersedes(crumb: Breadcrumb, trigger: Breadcrumb, profile: Profile) -> bool:
    triggers = crumb.version == 1 and not crumb.removes and profile.is_triggered_by(crumb)
    return triggers and is_same_speaker(crumb, trigger) and follows_at_once(trigger, crumb, profile)
