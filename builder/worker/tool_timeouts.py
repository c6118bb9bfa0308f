"""Tool calls that nobody answers: each gets a failure that says so, and so the turn of an agent that waits its context.

The calls are heard from the stream by a durable of their own, so that no crash and no restart forgets one. The failure enters
through the stream like everything: its place decides what came before it, and a rebuilt store tells the same.
"""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, StreamMessage
from builder.domain.errors import Rejected, Unavailable
from builder.domain.profile import Profile
from builder.ports.broker import Delivery, Sender
from builder.recall.index.conversation import open_calls
from builder.recall.index.view import View
from builder.recall.visibility import of_audience
from builder.remember.tool_calls import calls_of
from builder.worker.resilience import UnexpectedError, guard, heartbeat
from builder.worker.summary_scheduler import Sources
from builder.worker.tool_failures import timeout_event

log = logging.getLogger("builder.worker.tool_timeouts")

PAUSE = 5.0
"""Seconds before something is tried again that could not be had, or that a bug ended."""
MOST_BUGS = 5
"""After so many the calls of a message are passed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutRules:
    """call: how long a call may stay open. max_age: nobody waits any more for one that came before. heartbeat: seconds."""

    call: timedelta
    max_age: timedelta
    heartbeat: float


class ToolTimeouts:
    """Takes the breadcrumbs that may make calls: puts each off until its time is over, and then answers what is still open."""

    def __init__(
        self,
        patience: TimeoutRules,
        profiles: Callable[[], tuple[Profile, ...]],
        decode: Callable[[StreamMessage], Breadcrumb],
        sources: Sources,
        sender: Sender,
        now: Callable[[], datetime],
    ) -> None:
        """profiles: those in force. decode: raises `Rejected`."""
        self._patience = patience
        self._profiles = profiles
        self._decode = decode
        self._sources = sources
        self._sender = sender
        self._now = now
        self._bugs = Counter[int]()

    @property
    def is_wanted(self) -> bool:
        """Whether a profile waits for tools, and for how long is set."""
        return bool(self._patience.call) and any(profile.waits_for_tools for profile in self._profiles())

    async def process(self, delivery: Delivery) -> None:
        """Settle one delivery. Never raises."""
        arrival = delivery.arrival
        sequence = arrival.place.sequence
        async with heartbeat(delivery.keep_alive, self._patience.heartbeat):
            try:
                left = await guard(self._seconds_left(arrival), log, f"the open calls of breadcrumb {sequence}")
            except Unavailable as error:
                log.warning("the open calls of breadcrumb %d wait: %s", sequence, error)
                left = PAUSE
            except Rejected as error:
                log.warning("an open call of breadcrumb %d gets no failure: %s", sequence, error)
                left = 0
            except UnexpectedError:
                self._bugs[sequence] += 1
                left = PAUSE if self._bugs[sequence] < MOST_BUGS else 0
        if left > 0:
            await delivery.retry(left)
        else:
            self._bugs.pop(sequence, None)
            await delivery.ack()

    async def _seconds_left(self, arrival: StreamMessage) -> float:
        """Until its calls are given up on; 0 once that is done, and for what makes no calls that an agent waits for.

        What cannot be read is no call, and an import's calls are over. Raises `Rejected` and `Unavailable`.
        """
        age = self._now() - arrival.received_at
        try:
            call = self._decode(arrival)
        except Rejected:
            return 0
        if not call.call_signatures or call.session == NO_SESSION or arrival.replay or age >= self._patience.max_age:
            return 0
        if age >= self._patience.call:
            await self._give_up(call)
        return max((self._patience.call - age).total_seconds(), 0)

    async def _give_up(self, call: Breadcrumb) -> None:
        """Publish the failure of each call that is open by now for an agent that waits."""
        view = await self._sources.as_of(call.workspace, call.session, await self._sources.last())
        waiting = self._waiting(view, call)
        seconds, due = self._patience.call.total_seconds(), call.received_at + self._patience.call
        for made in calls_of(call):  # a later version may make others, whose own time counts
            if made.id in waiting:
                event = timeout_event(call, made.id, made.tool, seconds, due)
                await self._sender.send(event.subject, event.data, event.message_id, triggers=True)
                log.info("no answer for call %s of %s in session %s", made.id, call.id, call.session)

    def _waiting(self, view: View, call: Breadcrumb) -> frozenset[str]:
        """Request ids that are open to an agent that waits for tools, each in the conversation that it hears."""
        return frozenset(
            entry.request
            for profile in self._profiles()
            if profile.waits_for_tools
            for entry in open_calls(of_audience(view, profile.audience, call.task if profile.scope_to_task else None), call.id)
        )
