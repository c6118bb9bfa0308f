"""Time-outs of tool calls, with a view and a clock of the test, and the failure of a call that nobody answers."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from builder.domain.breadcrumb import StreamMessage
from builder.domain.errors import Rejected, Unavailable
from builder.domain.profile import Profile
from builder.domain.selector import Selector
from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.view import View
from builder.recall.recall import Recaller
from builder.remember.decode import decode
from builder.worker.tool_timeouts import MAX_BUGS, RETRY_SECONDS, TimeoutRules, ToolTimeouts, timeout_event
from tests.conversations import answered, bash, replied, said
from tests.factories import MORNING, make_place, make_profile, make_view
from tests.ports import FixedConsumers, HandDelivery, MemoryStream, make_log
from tests.stores import durable_store

PATIENCE = timedelta(seconds=30)
WAITING = make_profile(triggers=("user.message.v1", "tool.response.v1"))
CALLING = replied(2, "I look.", bash("a", "ls"), bash("b", "pwd"))


class Sent:
    """A `Sender` that keeps what it is given, or raises."""

    def __init__(self, error: Exception | None = None) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._error = error

    async def send(self, subject: str, data: bytes, message_id: str, *, triggers: bool = False) -> StreamMessage:  # noqa: ARG002
        if self._error:
            raise self._error
        assert triggers
        self.bodies.append(json.loads(data)["context"])
        return StreamMessage(subject=subject, data=data, place=make_place(99), received_at=MORNING)

    @property
    def requests(self) -> list[str]:
        return [body["request_id"] for body in self.bodies]


def hand_over(row: StoredBreadcrumb, tags: Sequence[str] = (), **arrival: Any) -> HandDelivery:
    """The row's record as the broker hands it over."""
    crumb = row.breadcrumb
    fields = {"id": crumb.id, "version": crumb.version, "tags": tags, "context": json.loads(crumb.body)}
    record = json.dumps(fields).encode()
    subject = f"breadcrumbs.{crumb.workspace}.{crumb.session}.{crumb.schema}"
    found = StreamMessage(subject=subject, data=record, place=crumb.place, received_at=crumb.received_at)
    return HandDelivery(replace(found, **arrival))


async def settled(
    delivery: HandDelivery, sent: Sent, rows: Sequence[StoredBreadcrumb], after: float, profile: Profile = WAITING
) -> list[str]:
    """How the delivery was settled so many seconds after it came. rows: what is remembered by then."""

    async def view(*_: object) -> View:
        return make_view(list(rows))

    def now() -> datetime:
        return delivery.arrival.received_at + timedelta(seconds=after)

    await timeouts(view, sent, profile, now).process(delivery)
    return delivery.settled


def timeouts(view: Callable[..., Awaitable[View]], sent: Sent, profile: Profile, now: Callable[[], datetime]) -> ToolTimeouts:
    """view: the session as it is by then."""
    rules = TimeoutRules(call=PATIENCE, max_age=timedelta(hours=24), heartbeat=10)
    recaller = cast("Recaller", SimpleNamespace(session_view=view))
    return ToolTimeouts(rules, make_log(MemoryStream(), durable_store(), now=now), recaller, FixedConsumers(profile), sent)


async def test_a_call_is_put_off_until_its_time_is_over() -> None:
    sent = Sent()
    assert await settled(hand_over(CALLING), sent, [CALLING], 10) == ["retry after 20.0"]
    assert not sent.bodies


async def test_then_each_call_without_an_answer_gets_a_failure_that_says_so() -> None:
    sent = Sent()
    rows = [said(1, "Go."), CALLING, answered(3, "a", 1)]
    assert await settled(hand_over(CALLING), sent, rows, 30) == ["ack"]
    assert [(body["request_id"], body["tool_name"], body["error_message"]) for body in sent.bodies] == [
        ("b", "bash", "no answer in 30 s")
    ]


async def test_what_was_answered_gets_none_and_a_person_who_speaks_meanwhile_ends_no_call() -> None:
    sent = Sent()
    assert await settled(hand_over(CALLING), sent, [CALLING, answered(3, "a", 1), answered(4, "b", 2)], 30) == ["ack"]
    assert not sent.bodies
    assert await settled(hand_over(CALLING), sent, [CALLING, said(3, "And hurry.")], 30) == ["ack"]
    assert sent.requests == ["a", "b"]


@pytest.mark.parametrize(
    ("delivery", "after", "profile"),
    [
        (hand_over(said(1, "Hello.")), 30, WAITING),
        (hand_over(replied(1, "Hello.")), 30, WAITING),
        (hand_over(CALLING, data=b"no JSON"), 30, WAITING),
        (hand_over(CALLING, replay=True), 30, WAITING),
        (hand_over(CALLING, subject="breadcrumbs.acme._.agent.response.v1"), 30, WAITING),
        (hand_over(CALLING), 25 * 3600, WAITING),
        (hand_over(CALLING), 30, make_profile()),
    ],
    ids=["no call", "words only", "unreadable", "an import", "no session", "a day old", "nobody waits"],
)
async def test_nobody_waits_for(delivery: HandDelivery, after: float, profile: Profile) -> None:
    sent = Sent()
    assert await settled(delivery, sent, [CALLING], after, profile) == ["ack"]
    assert not sent.bodies


@pytest.mark.parametrize(("error", "how"), [(Unavailable("away"), f"retry after {RETRY_SECONDS}"), (Rejected("taken"), "ack")])
async def test_what_is_away_is_tried_again_and_what_is_refused_is_not(error: Exception, how: str) -> None:
    assert await settled(hand_over(CALLING), Sent(error), [CALLING], 30) == [how]


async def test_a_bug_passes_the_calls_over_after_a_few_attempts_wherever_it_is() -> None:
    async def nothing(*_: object) -> Any:
        raise ValueError("a bug")

    broken = timeouts(nothing, Sent(), WAITING, lambda: MORNING + timedelta(hours=1))
    found = []
    for _ in range(MAX_BUGS):
        delivery = hand_over(CALLING)
        await broken.process(delivery)
        found += delivery.settled
    assert found == [*[f"retry after {RETRY_SECONDS}"] * (MAX_BUGS - 1), "ack"]


async def test_whether_a_call_is_open_is_a_matter_of_what_the_waiting_agent_hears() -> None:
    call = replied(2, "I look.", bash("a", "ls"), tags=["task:t1"])
    rows = [said(1, "Go.", tags=["task:t1"]), call, answered(3, "a", 1, tags=["task:t2"])]
    everything, other = Sent(), Sent()
    await settled(hand_over(call, tags=["task:t1"]), everything, rows[:2], 30)
    await settled(hand_over(call, tags=["task:t1"]), other, rows[:2], 30, replace(WAITING, audience=Selector(any_tags=("x",))))
    assert (everything.requests, other.requests) == (["a"], [])


async def test_before_its_time_is_over_a_call_is_put_off_whoever_waits_by_then() -> None:
    assert await settled(hand_over(CALLING), Sent(), [CALLING], 10, make_profile()) == ["retry after 20.0"]


async def test_a_call_that_a_later_version_makes_waits_for_the_time_of_that_version() -> None:
    sent = Sent()
    edit = replied(3, "I look.", bash("b", "pwd"), bash("c", "id"), id="m2", version=2)
    assert await settled(hand_over(CALLING), sent, [CALLING, edit], 30) == ["ack"]
    assert sent.requests == ["b"]


CALL = replied(1, "", bash("r1", "make"), tags=["task:t7", "blue"]).breadcrumb
DUE = MORNING + timedelta(minutes=5)


def test_it_answers_the_call_in_its_session_with_its_tags_and_its_task() -> None:
    event = timeout_event(CALL, "r1", "bash", 300, DUE)
    crumb = decode(StreamMessage(subject=event.subject, data=event.data, place=make_place(2), received_at=DUE))
    assert (crumb.workspace, crumb.session, crumb.schema) == ("acme", "s42", "tool.error.v1")
    assert (crumb.calls, crumb.call_signatures, crumb.tool, crumb.failed) == (("r1",), (), "bash", True)
    assert (crumb.tags, crumb.task, crumb.answers) == (("task:t7", "blue"), "t7", "m1")
    assert (crumb.created_at, json.loads(crumb.body)["error_message"]) == (DUE, "no answer in 300 s")


def test_its_id_depends_on_the_call_alone() -> None:
    first, slower = (timeout_event(CALL, "r1", "bash", seconds, DUE).message_id for seconds in (60, 300))
    assert first == slower != timeout_event(CALL, "r2", "bash", 60, DUE).message_id


def test_it_ends_when_the_call_does() -> None:
    ending = replace(CALL, expires_at=DUE + timedelta(hours=1))
    event = timeout_event(ending, "r1", "bash", 300, DUE)
    crumb = decode(StreamMessage(subject=event.subject, data=event.data, place=make_place(2), received_at=DUE))
    assert crumb.expires_at == ending.expires_at
