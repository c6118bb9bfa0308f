"""Which consumers answer a message now, which later, and which not at all."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from builder.domain.breadcrumb import StreamMessage
from builder.domain.profile import Profile
from builder.remember.decode import decode
from builder.worker.quiet_time import QuietTime, Readiness
from tests.conversations import message_of
from tests.factories import make_place, make_profile, remembered_of
from tests.memory_store.store import MemoryStore
from tests.ports import MemoryStream

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


async def readiness(
    later: tuple[StreamMessage, ...], age: float, *profiles: Profile, earlier: tuple[StreamMessage, ...] = ()
) -> Readiness:
    """What comes of a message when these came behind it, so many seconds after it. earlier: what the store has."""
    trigger = message(1, 0)
    stream = MemoryStream((trigger, *later))
    store = MemoryStore()
    for each in (*earlier, trigger):
        await store.remember(remembered_of(decode(each)))
    quiet_time = QuietTime(stream, stream.last, decode, lambda: trigger.received_at + timedelta(seconds=age), store.facts)
    return await quiet_time.readiness(decode(trigger), profiles)


async def test_without_a_quiet_time_every_message_is_answered_at_once() -> None:
    assert await readiness((message(2, 0.5),), 0, PROMPT) == Readiness((PROMPT,))


async def test_a_message_waits_until_its_quiet_time_is_over() -> None:
    assert await readiness((), 0.5, PATIENT) == Readiness((), 1.5)
    assert await readiness((), 2, PATIENT) == Readiness((PATIENT,))


async def test_a_message_that_the_same_person_follows_up_in_time_is_not_answered() -> None:
    assert await readiness((message(2, 1.9),), 2.1, PATIENT) == Readiness(())
    assert await readiness((message(2, 2.0),), 2.1, PATIENT) == Readiness((PATIENT,))


async def test_nobody_else_and_nothing_that_asks_for_no_context_ends_a_quiet_time() -> None:
    answer = message_of(3, "agent.response.v1", {"message": "Yes?"})
    later = (message(2, 0.5, "bob"), answer, message(4, 0.6, id="m1", version=2))
    assert await readiness(later, 2.1, PATIENT) == Readiness((PATIENT,))


async def test_what_was_sent_before_and_is_sent_again_takes_no_context_away() -> None:
    before = replace(message(1, -60, id="m0"), place=make_place(0))
    assert await readiness((message(2, 0.5, id="m0"),), 2.1, PATIENT, earlier=(before,)) == Readiness((PATIENT,))
    assert await readiness((message(2, 0.5, id="m1"),), 2.1, PATIENT) == Readiness((PATIENT,))


async def test_consumers_of_one_message_wait_each_as_long_as_its_profile_says() -> None:
    assert await readiness((), 0, PROMPT, PATIENT, STEADY) == Readiness((PROMPT,), 2)
    assert await readiness((message(2, 10),), 5, PROMPT, PATIENT, STEADY) == Readiness((PROMPT, PATIENT), 25)
    assert await readiness((message(2, 10),), 31, PROMPT, PATIENT, STEADY) == Readiness((PROMPT, PATIENT))
