"""Tool calls without an answer: each gets a failure, and with it the waiting agent's turn its context.

The calls come from the stream by a durable of their own, so that no crash and no restart loses one. The failure enters through
the stream like everything: its place decides what came before it, and a rebuilt store has the same.
"""

import logging
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from builder.connection.heartbeat import heartbeat
from builder.domain.breadcrumb import NO_SESSION, TOOL_ERROR, Breadcrumb, StreamMessage
from builder.domain.errors import Rejected, Unavailable
from builder.domain.json_text import canonical
from builder.domain.profile import Profile
from builder.ports.stream import Delivery, Sender
from builder.recall.index.conversation import open_calls
from builder.recall.index.view import View
from builder.recall.recall import Recaller, of_consumer
from builder.remember.calls import calls_of
from builder.wire.records import Outgoing, make_record, outgoing
from builder.wire.times import moment
from builder.worker.consumers import Consumers
from builder.worker.jobs import UnexpectedError, guard
from builder.worker.log import Log

logger = logging.getLogger("builder.worker.tool_timeouts")

RETRY_SECONDS = 5.0
"""After something was unavailable, or a bug."""
MAX_BUGS = 5
"""After so many the calls of a message are skipped."""
ID_DIGITS = 32
"""Hexadecimal digits of the id that tell one call from another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutRules:
    """How long agents wait for tools."""

    call: timedelta
    """A call may stay open so long; 0 = for ever."""
    max_age: timedelta
    """Calls older than this are ignored."""
    heartbeat: float
    """Seconds between two signs of life."""


class ToolTimeouts:
    """Delays each breadcrumb that makes calls until its time is over, then fails the calls that are still open."""

    def __init__(self, rules: TimeoutRules, log: Log, recaller: Recaller, consumers: Consumers, sender: Sender) -> None:
        self._rules = rules
        self._log = log
        self._recaller = recaller
        self._consumers = consumers
        self._sender = sender
        self._bugs = Counter[int]()

    @property
    def is_needed(self) -> bool:
        """Whether a profile waits for tools, and a time is set."""
        return bool(self._rules.call) and any(profile.waits_for_tools for profile in self._consumers.in_memory())

    async def process(self, delivery: Delivery) -> None:
        """Settle one delivery. Never raises."""
        message = delivery.arrival
        sequence = message.place.sequence
        async with heartbeat(delivery.keep_alive, self._rules.heartbeat):
            try:
                seconds = await guard(self._seconds_left(message), logger, f"the open calls of breadcrumb {sequence}")
            except Unavailable as error:
                logger.warning("the open calls of breadcrumb %d wait: %s", sequence, error)
                seconds = RETRY_SECONDS
            except Rejected as error:
                logger.warning("an open call of breadcrumb %d gets no failure: %s", sequence, error)
                seconds = 0
            except UnexpectedError:
                self._bugs[sequence] += 1
                seconds = RETRY_SECONDS if self._bugs[sequence] < MAX_BUGS else 0
        if seconds > 0:
            await delivery.retry(seconds)
        else:
            self._bugs.pop(sequence, None)
            await delivery.ack()

    async def _seconds_left(self, message: StreamMessage) -> float:
        """Seconds until its calls fail; 0 once they did, and for a breadcrumb without calls that an agent waits for.

        What cannot be read is no call, and an import's calls are over. Raises `Rejected` and `Unavailable`.
        """
        age = self._log.now() - message.received_at
        try:
            call = await self._log.read(message)
        except Rejected:
            return 0
        if not call.call_signatures or call.session == NO_SESSION or message.replay or age >= self._rules.max_age:
            return 0
        if age >= self._rules.call:
            await self._fail_open_calls(call)
        return max((self._rules.call - age).total_seconds(), 0)

    async def _fail_open_calls(self, call: Breadcrumb) -> None:
        last = await self._log.last()
        await self._log.catch_up_session(call.workspace, call.session, last)
        view = await self._recaller.session_view(call.workspace, call.session, last)
        waiting = _waiting(view, call, await self._consumers.of(call.workspace))
        seconds, due = self._rules.call.total_seconds(), call.received_at + self._rules.call
        for each in calls_of(call):  # a later version may make others, which have a time of their own
            if each.id in waiting:
                event = timeout_event(call, each.id, each.tool, seconds, due)
                await self._sender.send(event.subject, event.data, event.message_id, triggers=True)
                logger.info("no answer for call %s of %s in session %s", each.id, call.id, call.session)


def _waiting(view: View, call: Breadcrumb, profiles: tuple[Profile, ...]) -> frozenset[str]:
    return frozenset(
        entry.request
        for profile in profiles
        if profile.waits_for_tools
        for entry in open_calls(of_consumer(view, profile, call), call.id)
    )


def timeout_event(call: Breadcrumb, request: str, tool: str, seconds: float, due: datetime) -> Outgoing:
    """A `tool.error.v1` for one call, under an id that depends on the call alone: of two that are made the first stands.

    call: the message that makes the call. request, tool: of the call. seconds: that it was waited for. due: when they were over.
    Tags, task and end are those of the message, so that it stands in the same conversations for as long.
    """
    name = sha256(canonical([call.workspace, call.session, call.id, request]).encode("utf-8", "backslashreplace"))
    body = {
        "tool_name": tool,
        "request_id": request,
        "error_type": "timeout",
        "error_message": f"no answer in {seconds:g} s",
        "trigger_event_id": call.id,
    }
    task = {"task_id": call.task} if call.task else {}
    record = make_record(TOOL_ERROR, f"timeout-{name.hexdigest()[:ID_DIGITS]}", call.session, body | task, created_at=due)
    ending = {"expires_at": moment(call.expires_at)} if call.expires_at else {}
    return outgoing(record | {"tags": list(call.tags)} | ending, call.workspace)
