"""Long input is worked on in one thread beside the event loop."""

import asyncio
from threading import Event, current_thread

import pytest

from builder.domain.breadcrumb import Breadcrumb, StreamMessage
from builder.domain.errors import Rejected
from builder.remember.decode import decode
from builder.remember.memory import THREAD_CHARS, Ingest, decoded, in_thread
from tests.conversations import message_of
from tests.factories import HashingEmbedder, make_breadcrumb


async def test_the_words_of_many_keywords_are_read_in_the_thread_like_those_of_a_long_text() -> None:
    threads: list[str] = []

    def terms(text: str) -> str:
        threads.append(current_thread().name)
        return text

    for keywords in (("kiln",), ("kiln",) * THREAD_CHARS):
        await Ingest(HashingEmbedder(), terms, len, None).facts(make_breadcrumb("Look.", pointers=keywords))
    assert threads == ["MainThread", "long-input_0"]


@pytest.mark.parametrize(("size", "thread"), [(10, "MainThread"), (THREAD_CHARS, "long-input_0")])
async def test_only_a_long_message_is_decoded_in_the_thread(size: int, thread: str) -> None:
    threads: list[str] = []

    def noted(message: StreamMessage) -> Breadcrumb:
        threads.append(current_thread().name)
        return decode(message)

    assert (await decoded(noted, message_of(1, "user.message.v1", {"content": "a" * size}))).text == "a" * size
    assert threads == [thread]


async def test_a_long_message_that_is_refused_is_refused_as_a_short_one() -> None:
    with pytest.raises(Rejected, match="no text"):
        await decoded(decode, message_of(1, "user.message.v1", {"more": "a" * THREAD_CHARS}))


async def test_the_loop_goes_on_and_a_second_work_waits_for_the_first() -> None:
    begun, go, order = Event(), Event(), list[str]()

    def first() -> None:
        begun.set()
        go.wait()
        order.append("first")

    works = [asyncio.create_task(in_thread(first)), asyncio.create_task(in_thread(lambda: order.append("second")))]
    while not begun.is_set():
        await asyncio.sleep(0)
    assert order == []
    go.set()
    await asyncio.gather(*works)
    assert order == ["first", "second"]
