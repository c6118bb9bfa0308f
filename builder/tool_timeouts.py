"""Tool calls that nobody answers: each gets a failure that says so, and so the turn of an agent that waits its context.

The calls are heard from the stream by a durable of their own, so that no crash and no restart forgets one. The failure enters
through the stream like everything: its place decides what came before it, and a rebuilt store tells the same.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from builder.domain.breadcrumb import NO_SESSION, Arrival, Breadcrumb
from builder.domain.errors import Rejected, Unavailable
from builder.domain.profile import Profile
from builder.heart import Bug, foreseen
from builder.pipeline.conversation import open_calls
from builder.ports import Delivery, Sender
from builder.summarising import Sources
from builder.wire.tool_calls import calls_of
from builder.wire.tool_failures import timeout_event

log = logging.getLogger("builder.tool_timeouts")

PAUSE = 5.0
"""Seconds before something is tried again that could not be had, or that a bug ended."""
MOST_DELIVERIES = 10
"""After so many a bug passes a call over: the first delivery only waits for the time-out."""


class ToolTimeouts:
    """Takes the breadcrumbs that may make calls: puts each off until its time is over, and then answers what is still open."""

    def __init__(
        self,
        patience: timedelta,
        max_age: timedelta,
        profiles: Callable[[], tuple[Profile, ...]],
        decode: Callable[[Arrival], Breadcrumb],
        sources: Sources,
        sender: Sender,
        now: Callable[[], datetime],
    ) -> None:
        """patience: how long a call may stay open. max_age: nobody waits any more for one that is over for so long.

        profiles: those in force. decode: raises `Rejected`.
        """
        self.patience = patience
        self._max_age = max_age
        self._profiles = profiles
        self._decode = decode
        self._sources = sources
        self._sender = sender
        self._now = now

    @property
    def is_wanted(self) -> bool:
        """Whether a profile waits for tools, and for how long is set."""
        return bool(self.patience) and any(profile.waits_for_tools for profile in self._profiles())

    async def process(self, delivery: Delivery) -> None:
        """Settle one delivery. Never raises."""
        arrival = delivery.arrival
        left = (arrival.received_at + self.patience - self._now()).total_seconds()
        try:
            call = self._call(arrival)
            if call is not None and left > 0:
                await delivery.retry(left)
                return
            if call is not None:
                await foreseen(self._give_up(call), log, f"giving up on the calls of {arrival.place.sequence}")
        except Unavailable as error:
            log.warning("the open calls of breadcrumb %d wait: %s", arrival.place.sequence, error)
            await delivery.retry(PAUSE)
            return
        except Bug:
            if arrival.deliveries < MOST_DELIVERIES:
                await delivery.retry(PAUSE)
                return
            log.warning("the open calls of breadcrumb %d are passed over", arrival.place.sequence)
        except Rejected as error:
            log.warning("an open call of breadcrumb %d gets no failure: %s", arrival.place.sequence, error)
        await delivery.ack()

    def _call(self, arrival: Arrival) -> Breadcrumb | None:
        """The breadcrumb, if it makes calls that an agent waits for: an import's are over, and what cannot be read is no call."""
        is_old = self._now() - arrival.received_at >= self.patience + self._max_age
        if is_old or arrival.replay or not self.is_wanted:
            return None
        try:
            breadcrumb = self._decode(arrival)
        except Rejected:
            return None
        return breadcrumb if breadcrumb.asked and breadcrumb.session != NO_SESSION else None

    async def _give_up(self, call: Breadcrumb) -> None:
        """Publish the failure of each call that is open by now. Raises `Rejected` and `Unavailable`."""
        view = await self._sources.as_of(call.workspace, call.session, await self._sources.last())
        tools = {made.id: made.tool for made in calls_of(call)}
        for entry in open_calls(view, call.id):
            if entry.request in tools:  # a later version may make others, whose own time counts
                due = call.received_at + self.patience
                event = timeout_event(call, entry.request, tools[entry.request], self.patience.total_seconds(), due)
                await self._sender.send(event.subject, event.data, event.message_id, triggers=True)
                log.info("no answer for call %s of %s in session %s", entry.request, call.id, call.session)
