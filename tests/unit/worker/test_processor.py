"""One attempt: remembered, expired or published; each context leaves once, and a dead letter erases the secret it is about."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from builder.domain.breadcrumb import Breadcrumb, StreamMessage
from builder.domain.context import Context
from builder.domain.errors import ChainTooLong, Rejected, Unavailable
from builder.service import BuildResult
from builder.worker.processor import ContextPublisher, DeadLetters, Processor
from builder.worker.tombstones import Forgetting
from builder.worker.turns import Turns
from tests.conversations import chat, message_of, said
from tests.factories import MORNING, make_context, make_place, make_profile
from tests.ports import MemoryPublisher, MemoryStream, make_log
from tests.stores import durable_store
from tests.summarised import make_builder

MAX_AGE = timedelta(hours=1)


def hello(sequence: int, **record: Any) -> StreamMessage:
    return message_of(sequence, "user.message.v1", {"content": f"Hello {sequence}."}, **record)


class Bench:
    """A processor over these messages, for one consumer. erasures: ids of what was erased."""

    def __init__(self, *messages: StreamMessage, debounce: float = 0, clock: Callable[[], float] = lambda: 0.0) -> None:
        self.stream, self.store, self.publisher = MemoryStream(messages), durable_store(), MemoryPublisher()
        self.now = MORNING
        self.erasures: list[str] = []
        builder = make_builder(self.store, (make_profile(consumer="a", debounce=debounce),))
        log = make_log(
            self.stream, self.store, builder.remember, publisher=self.publisher, now=lambda: self.now, of_records=False
        )
        contexts = ContextPublisher(self.publisher, self.encode)
        forgetting = cast("Forgetting", SimpleNamespace(apply=self.erase))
        self.processor = Processor(lambda: builder, log, contexts, forgetting, Turns(), MAX_AGE, clock=clock)
        self.pages: list[Context] = []

    def encode(self, context: Context) -> bytes:
        self.pages.append(context)
        return b""

    async def erase(self, breadcrumb: Breadcrumb) -> None:
        self.erasures.append(breadcrumb.id)

    async def outcome(self, message: StreamMessage, attempt: int = 1) -> str:
        return (await self.processor.process(message, attempt)).outcome


async def test_a_trigger_is_answered_with_all_that_came_before_it() -> None:
    bench = Bench(hello(1), hello(2))
    ending = await bench.processor.process(hello(3), 1)
    (context,) = bench.pages
    assert (ending.outcome, ending.tokens) == ("published", (context.tokens,))
    assert ending.build is not None
    assert "Hello 1." in context.markdown
    assert "Hello 2." in context.markdown
    assert await bench.store.count() == 3


async def test_what_triggers_nothing_is_remembered_without_a_walk() -> None:
    bench = Bench(hello(1))
    ending = await bench.processor.process(message_of(2, "agent.response.v1", {"message": "Hi."}), 1)
    assert (ending.outcome, ending.build, bench.stream.reads) == ("remembered", None, [])


async def test_an_import_is_remembered_and_never_answered() -> None:
    bench = Bench()
    assert await bench.outcome(replace(hello(1), replay=True)) == "remembered"
    assert bench.pages == []


def at(second: float, message: StreamMessage) -> StreamMessage:
    return replace(message, received_at=MORNING + timedelta(seconds=second))


async def test_a_page_after_a_quiet_time_has_what_came_within_it_and_says_up_to_where() -> None:
    trigger = at(0, hello(1))
    edit = at(1, message_of(2, "user.message.v1", {"content": "Book the RED room."}, id="m1", version=2))
    others = (
        at(2, message_of(3, "note.v1", {"content": "The red room has a beamer."})),
        at(2.5, message_of(4, "agent.response.v1", {"message": "Room 4 is free.", "creator": {"agent_id": "other"}})),
        at(3.5, message_of(5, "note.v1", {"content": "Too late."})),
    )
    bench = Bench(trigger, edit, *others, debounce=3)
    bench.now = MORNING + timedelta(seconds=4)
    assert await bench.outcome(trigger) == "published"
    (context,) = bench.pages
    assert (context.as_of, context.quiet_from) == (None, others[1].place)
    for words in ("Book the RED room.", "Room 4 is free."):
        assert words in context.markdown
    assert "Hello 1." not in context.markdown
    assert "Too late." not in context.markdown
    bench.stream.messages.append(at(9, hello(6)))
    bench.publisher.contexts.clear()
    assert await bench.outcome(replace(trigger, deliveries=2)) == "published"
    assert bench.pages[1] == context


async def test_a_page_after_a_quiet_time_in_which_nothing_came_is_as_of_its_trigger() -> None:
    trigger = at(0, hello(1))
    bench = Bench(trigger, at(3.5, message_of(2, "note.v1", {"content": "Too late."})), debounce=3)
    bench.now = MORNING + timedelta(seconds=4)
    assert await bench.outcome(trigger) == "published"
    assert bench.pages[0].quiet_from is None


async def test_a_later_version_triggers_nothing() -> None:
    bench = Bench()
    await bench.outcome(hello(1))
    assert await bench.outcome(hello(2, id="m1", version=2)) == "remembered"


@pytest.mark.parametrize(("age", "outcome"), [(MAX_AGE - timedelta(seconds=1), "published"), (MAX_AGE, "expired")])
async def test_a_trigger_that_is_too_old_is_remembered_and_not_answered(age: timedelta, outcome: str) -> None:
    bench, message = Bench(), hello(1)
    bench.now = message.received_at + age
    assert await bench.outcome(message) == outcome
    assert await bench.store.count() == 1


async def test_the_age_of_a_repeated_trigger_is_that_of_its_first_message() -> None:
    bench, message = Bench(), hello(1)
    await bench.outcome(message)
    bench.now = message.received_at + MAX_AGE
    again = replace(message, place=make_place(2), received_at=bench.now)
    assert await bench.outcome(again) == "expired"


async def test_a_second_message_of_one_breadcrumb_gets_no_second_context() -> None:
    bench = Bench()
    await bench.outcome(hello(1))
    assert (await bench.processor.process(replace(hello(1), deliveries=2), 1)).tokens == ()
    assert (await bench.processor.process(hello(1), 2)).tokens == ()
    assert (await bench.processor.process(hello(1), 1)).tokens == ()
    assert next(bench.publisher.attempts) == 1


async def test_a_tombstone_and_a_secret_are_remembered_and_erased_for() -> None:
    bench = Bench()
    assert await bench.outcome(message_of(1, "breadcrumb.deleted.v1", {"breadcrumb_id": "m9"})) == "remembered"
    assert await bench.outcome(message_of(2, "secret.v1", {"value": "hunter2"})) == "remembered"
    assert bench.erasures == ["m1", "m2"]


async def test_what_cannot_be_read_is_rejected_and_not_stored() -> None:
    bench = Bench()
    with pytest.raises(Rejected):
        await bench.outcome(hello(1, workspace="elsewhere"))
    assert await bench.store.count() == 0


async def test_a_walk_that_fails_leaves_the_trigger_for_later() -> None:
    bench = Bench(hello(1))
    bench.stream.is_away = True
    with pytest.raises(Unavailable):
        await bench.outcome(hello(2))
    assert await bench.store.count() == 0


CONTEXT, OTHER = (make_context(said(800, "And now?"), chat(2), make_profile(consumer=name)) for name in ("a", "b"))


def encode(context: Context) -> bytes:
    return context.markdown.encode()


def built(*contexts: Context, rejected: tuple[str, ...] = (), loop_stopped: bool = False) -> BuildResult:
    return BuildResult(contexts=contexts, rejected=rejected, loop_stopped=loop_stopped)


async def test_every_context_is_published_and_announced() -> None:
    publisher = MemoryPublisher()
    tokens = await ContextPublisher(publisher, encode).publish(built(CONTEXT, OTHER), is_repeat=False)
    assert tokens == (CONTEXT.tokens, OTHER.tokens)
    assert publisher.contexts == {str(each.id): encode(each) for each in (CONTEXT, OTHER)}
    assert publisher.announced == list(publisher.contexts)


async def test_of_two_contexts_with_one_id_the_first_stands() -> None:
    publisher = MemoryPublisher()
    contexts = ContextPublisher(publisher, encode)
    await contexts.publish(built(CONTEXT), is_repeat=False)
    assert await contexts.publish(built(CONTEXT, OTHER), is_repeat=False) == (OTHER.tokens,)


async def test_a_repeat_looks_before_it_publishes() -> None:
    publisher = MemoryPublisher()
    contexts = ContextPublisher(publisher, encode)
    await contexts.publish(built(CONTEXT), is_repeat=True)
    assert await contexts.publish(built(CONTEXT), is_repeat=True) == ()
    assert next(publisher.attempts) == 1


@pytest.mark.parametrize(("seconds", "heard"), [(0.1, 2), (9.0, 1)])
async def test_a_worker_that_was_frozen_looks_before_it_publishes(seconds: float, heard: int) -> None:
    first = Bench()
    await first.outcome(hello(1))
    clock = iter((0.0, seconds))
    second = Bench(clock=lambda: next(clock))
    second.processor._contexts = ContextPublisher(first.publisher, first.encode)
    assert await second.outcome(hello(1)) == "published"
    assert len(first.pages) == heard, "a plain subscriber hears what is sent, also when the stream refuses it"


async def test_an_announcement_that_fails_does_not_fail_the_context(caplog: pytest.LogCaptureFixture) -> None:
    publisher = MemoryPublisher()
    publisher.is_mute = True
    assert await ContextPublisher(publisher, encode).publish(built(CONTEXT), is_repeat=False) == (CONTEXT.tokens,)
    assert "was not announced" in caplog.text


async def test_a_consumer_without_a_context_is_rejected_once_the_others_have_theirs() -> None:
    publisher = MemoryPublisher()

    def refusing(context: Context) -> bytes:
        if context.consumer == "a":
            raise Rejected("it is too large")
        return encode(context)

    with pytest.raises(Rejected, match=r"^c: no room; a: it is too large$"):
        await ContextPublisher(publisher, refusing).publish(built(CONTEXT, OTHER, rejected=("c: no room",)), is_repeat=False)
    assert list(publisher.contexts) == [str(OTHER.id)]


async def test_a_chain_that_is_too_long_is_rejected_as_such() -> None:
    with pytest.raises(ChainTooLong):
        await ContextPublisher(MemoryPublisher(), encode).publish(built(rejected=("a",), loop_stopped=True), is_repeat=False)


async def test_a_broker_that_is_away_is_no_rejection() -> None:
    publisher = MemoryPublisher()
    publisher.is_away = True
    with pytest.raises(Unavailable):
        await ContextPublisher(publisher, encode).publish(built(CONTEXT), is_repeat=False)


async def test_a_dead_letter_names_its_reason_and_leaves_the_message() -> None:
    message = message_of(7, "user.message.v1", {"content": "Hello."})
    publisher, stream = MemoryPublisher(), MemoryStream([message])
    await DeadLetters(publisher, stream).publish(message, "no")
    assert publisher.letters == [(7, "no")]
    assert stream.messages == [message]


async def test_the_message_of_a_secret_is_erased_after_its_letter() -> None:
    secret = message_of(7, "secret.v1", {"value": "hunter2"})
    publisher, stream = MemoryPublisher(), MemoryStream([secret])
    publisher.is_away = True
    with pytest.raises(Unavailable):
        await DeadLetters(publisher, stream).publish(secret, "no")
    assert stream.messages == [secret]
    publisher.is_away = False
    await DeadLetters(publisher, stream).publish(secret, "no")
    assert stream.messages == []
