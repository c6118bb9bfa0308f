"""Which consumers answer a message now, later, or not at all."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from builder.domain.breadcrumb import StreamMessage
from builder.domain.profile import Profile
from builder.remember.decode import decode
from builder.worker.decide import Decision, decide, quiet_seconds
from tests.conversations import message_of
from tests.factories import make_place, make_profile, remembered_of
from tests.ports import MemoryStream, make_log
from tests.stores import durable_store

PROMPT = make_profile(consumer="prompt")
PATIENT = make_profile(consumer="patient", debounce=2)
STEADY = make_profile(consumer="steady", debounce=30)


def message(sequence: int, seconds: float, user: str = "ada", **record: Any) -> StreamMessage:
    """A message of a person so many seconds after the first one."""
    sent = message_of(sequence, "user.message.v1", {"content": f"Message {sequence}."}, user_id=user, **record)
    first = message_of(1, "user.message.v1", {"content": ""})
    return StreamMessage(
        subject=sent.subject, data=sent.data, place=sent.place, received_at=first.received_at + timedelta(seconds=seconds)
    )


async def decision(
    later: tuple[StreamMessage, ...], age: float, *profiles: Profile, earlier: tuple[StreamMessage, ...] = ()
) -> Decision:
    """What comes of a message when these came behind it, so many seconds after it. earlier: what the store has."""
    trigger = message(1, 0)
    stream = MemoryStream((trigger, *later))
    store = durable_store()
    for each in (*earlier, trigger):
        await store.remember(remembered_of(decode(each)))
    log, since = make_log(stream, store), timedelta(seconds=age)
    crumb = decode(trigger)
    others = await log.later(crumb, quiet_seconds(crumb, profiles, since))
    return decide(crumb, profiles, others, since, timedelta(hours=24))


async def test_without_a_quiet_time_every_message_is_answered_at_once() -> None:
    assert await decision((message(2, 0.5),), 0, PROMPT) == Decision("published", (PROMPT,))


async def test_a_message_waits_until_its_quiet_time_is_over() -> None:
    assert await decision((), 0.5, PATIENT) == Decision("waiting", (), 1.5)
    assert await decision((), 2, PATIENT) == Decision("published", (PATIENT,))


async def test_a_message_that_the_same_person_follows_up_in_time_is_not_answered() -> None:
    assert await decision((message(2, 1.9),), 2.1, PATIENT) == Decision("superseded")
    assert await decision((message(2, 2.0),), 2.1, PATIENT) == Decision("published", (PATIENT,))


async def test_nobody_else_and_nothing_that_asks_for_no_context_ends_a_quiet_time() -> None:
    answer = message_of(3, "agent.response.v1", {"message": "Yes?"})
    later = (message(2, 0.5, "bob"), answer, message(4, 0.6, id="m1", version=2))
    assert await decision(later, 2.1, PATIENT) == Decision("published", (PATIENT,))


async def test_what_was_sent_before_and_is_sent_again_takes_no_context_away() -> None:
    before = replace(message(1, -60, id="m0"), place=make_place(0))
    assert await decision((message(2, 0.5, id="m0"),), 2.1, PATIENT, earlier=(before,)) == Decision("published", (PATIENT,))
    assert await decision((message(2, 0.5, id="m1"),), 2.1, PATIENT) == Decision("published", (PATIENT,))


async def test_consumers_of_one_message_wait_each_as_long_as_its_profile_says() -> None:
    assert await decision((), 0, PROMPT, PATIENT, STEADY) == Decision("published", (PROMPT,), 2)
    assert await decision((message(2, 10),), 5, PROMPT, PATIENT, STEADY) == Decision("published", (PROMPT, PATIENT), 25)
    assert await decision((message(2, 10),), 31, PROMPT, PATIENT, STEADY) == Decision("published", (PROMPT, PATIENT))
