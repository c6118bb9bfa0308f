"""Who gets a context for a message, when, and what each outcome means for its delivery.

The stream's times decide what supersedes a message, so every worker decides the same; its age is by the broker's clock.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.errors import Rejected, Unavailable
from builder.domain.profile import Profile
from builder.domain.selector import may_trigger
from builder.recall.questions import follows_at_once, is_same_speaker
from builder.worker.jobs import UnexpectedError

Outcome = Literal["remembered", "expired", "waiting", "superseded", "published", "rejected", "unavailable", "failed", "cancelled"]


class Rule(NamedTuple):
    """How to settle a delivery and its counted attempt."""

    settle: Literal["ack", "retry", "reject", "leave"]
    attempt: Literal["clear", "undo", "keep"]


RULES: dict[Outcome, Rule] = {
    "remembered": Rule("ack", "clear"),
    "expired": Rule("ack", "clear"),  # a trigger that is too old for a context
    "superseded": Rule("ack", "clear"),  # the same person wrote again at once
    "waiting": Rule("retry", "clear"),  # for the quiet time of its consumers, or for another worker
    "published": Rule("ack", "clear"),  # a retry, where another consumer still waits
    "rejected": Rule("reject", "keep"),  # so that catch-up skips the message at once
    "unavailable": Rule("retry", "undo"),  # the dependency's fault
    "failed": Rule("retry", "keep"),  # a bug uses up an attempt
    "cancelled": Rule("leave", "undo"),  # the shutdown's fault
}
CAUSES: dict[type[BaseException], Outcome] = {
    Rejected: "rejected",
    Unavailable: "unavailable",
    UnexpectedError: "failed",
    asyncio.CancelledError: "cancelled",
}
"""The outcome of an attempt that raises one of these."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome for a message that was read."""

    outcome: Outcome
    ready: tuple[Profile, ...] = ()
    pause: float = 0.0
    """Seconds until the next of the others is due; 0 = no consumer waits."""


def quiet_seconds(trigger: Breadcrumb, consumers: Iterable[Profile], age: timedelta) -> float:
    """The longest quiet time (`debounce`) that is over: what came within it may supersede the message."""
    if trigger.role != "user":
        return 0.0
    return max((each.debounce for each in consumers if each.debounce <= age.total_seconds()), default=0.0)


def quiet_ends(
    trigger: Breadcrumb, consumers: Iterable[Profile], later: Iterable[Breadcrumb]
) -> dict[Place | None, list[Profile]]:
    """Place of the last message within the quiet time → the consumers whose pages are as of it; None = there is none.

    It hangs on times of the stream alone, so a redelivery finds the same.
    """
    crumbs, ends = tuple(later), dict[Place | None, list[Profile]]()
    for profile in consumers:
        places = [crumb.place for crumb in crumbs if follows_at_once(trigger, crumb, profile)]
        ends.setdefault(max(places, default=None), []).append(profile)
    return ends


def decide(
    breadcrumb: Breadcrumb, consumers: tuple[Profile, ...], later: Iterable[Breadcrumb], age: timedelta, max_age: timedelta
) -> Decision:
    """consumers: those that it triggers. later: new messages of the session within `quiet_seconds` after it."""
    if not consumers:
        return Decision("remembered")
    if age >= max_age:
        return Decision("expired")
    if breadcrumb.role != "user":
        return Decision("published", consumers)
    seconds = max(age.total_seconds(), 0.0)  # the clock was asked a moment ago
    due = [profile for profile in consumers if profile.debounce <= seconds]
    ready = tuple(profile for profile in due if not any(_supersedes(crumb, breadcrumb, profile) for crumb in later))
    pause = min((profile.debounce - seconds for profile in consumers if profile.debounce > seconds), default=0.0)
    if ready:
        return Decision("published", ready, pause)
    return Decision("waiting" if pause else "superseded", pause=pause)


def _supersedes(crumb: Breadcrumb, trigger: Breadcrumb, profile: Profile) -> bool:
    triggers = may_trigger(crumb) and profile.is_triggered_by(crumb)
    return triggers and is_same_speaker(crumb, trigger) and follows_at_once(trigger, crumb, profile)
