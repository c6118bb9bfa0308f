"""Listeners: in order, bounded, and ended with a sentence; over HTTP: `tests/e2e/test_http.py`."""

from contextlib import aclosing

from builder.app.http.events import HEARTBEAT, MAX_WAITING, SLOW, STOPPED, Listener


async def test_a_listener_gets_its_events_in_order() -> None:
    listener = Listener()
    async with aclosing(listener.events()) as events:
        for number in range(3):
            listener.put(b"%d" % number)
        assert [await anext(events) for _ in range(3)] == [b"0", b"1", b"2"]
        listener.put(b"3")
        assert await anext(events) == b"3"


async def test_a_client_that_is_too_slow_gets_a_sentence_and_nothing_more_is_kept_for_it() -> None:
    listener = Listener()
    async with aclosing(listener.events()) as events:
        for number in range(MAX_WAITING + 2):
            listener.put(b"%d" % number)
        assert [event async for event in events] == [SLOW]


async def test_a_client_that_takes_an_event_while_it_falls_behind_is_ended_after_it() -> None:
    listener = Listener()
    async with aclosing(listener.events()) as events:
        listener.put(b"first")
        listener.put(b"second")
        assert await anext(events) == b"first"
        for _ in range(MAX_WAITING + 1):
            listener.put(b"more")
        assert [event async for event in events][-1] == SLOW


async def test_a_heartbeat_comes_only_where_nothing_else_waits() -> None:
    listener = Listener()
    async with aclosing(listener.events()) as events:
        listener.beat()
        listener.beat()
        assert await anext(events) == HEARTBEAT
        listener.put(b"event")
        listener.beat()
        listener.end(STOPPED)
        assert [event async for event in events] == [STOPPED]
