"""Each context leaves once, each by itself; a dead letter erases the secret that it is about."""

import pytest

from builder.domain.context import Context
from builder.domain.errors import ChainTooLong, Rejected, Unavailable
from builder.service import BuildResult
from builder.worker.processor import ContextPublisher, DeadLetters
from tests.conversations import chat, message_of, said
from tests.factories import make_context, make_profile
from tests.ports import MemoryPublisher, MemoryStream

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
