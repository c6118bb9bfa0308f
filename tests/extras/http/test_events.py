"""Listeners: in order, bounded, and ended with a sentence; over HTTP: `tests/e2e/test_http.py`."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Any, cast

import pytest
from typing_extensions import override

from builder.adapters.nats.contexts import ContextStream
from builder.app.access import AccessControl
from builder.app.tokens import Tokens
from builder.domain.breadcrumb import ORIGIN, Place, StreamMessage
from builder.domain.errors import Unavailable
from builder.extra import Caller
from builder.extras.http.events import HEARTBEAT, MAX_WAITING, REVOKED, SLOW, STOPPED, Fanout, Listener
from builder.worker.log import StoredLog
from tests.factories import MORNING
from tests.hosts import host_of
from tests.http_api import write_tokens
from tests.ports import FixedConsumers
from tests.stores import durable_store

ADA, BEN = (Caller(name=name, workspace="acme", rights=frozenset(("read",))) for name in ("ada", "ben"))
CONTEXT = StreamMessage(subject="contexts.acme.default.s.m1", data=b'{"a": 1}', place=Place(7, 1), received_at=MORNING)


class Interrupted(AccessControl):
    """Something happens before each look whether a context is for a caller."""

    def __init__(self, before: Callable[[Caller], Awaitable[None]]) -> None:
        super().__init__(host_of(log=StoredLog(durable_store()), consumers=FixedConsumers()), {})
        self._before = before

    @override
    async def is_for(self, caller: Caller, event: Mapping[str, Any]) -> bool:
        await self._before(caller)
        return await super().is_for(caller, event)


def fanout_of(before: Callable[[Caller], Awaitable[None]], tokens: Tokens | None = None) -> Fanout:
    """Contexts are handed to it by the test."""
    return Fanout(cast("ContextStream", None), Interrupted(before), tokens.holders if tokens else frozenset)


async def got(listener: Listener) -> list[bytes]:
    """What waits for a listener."""
    listener.put(b"mark")
    events = list[bytes]()
    async with aclosing(listener.events()) as coming:
        while (event := await anext(coming)) != b"mark":
            events.append(event)
    return events


async def test_who_comes_while_a_context_is_handed_out_gets_it_once() -> None:
    late = list[tuple[Listener, Place]]()

    async def come(_caller: Caller) -> None:
        if not late:
            late.extend(stack.enter_context(fanout.listening(each, "default")) for each in (ADA, BEN))

    fanout = fanout_of(come)
    with ExitStack() as stack:
        early, _ = stack.enter_context(fanout.listening(ADA, "default"))
        await fanout.hand_out(CONTEXT)
        assert [place for _, place in late] == [ORIGIN] * 2
        assert [len(await got(each)) for each in (early, late[0][0], late[1][0])] == [1, 1, 1]
        assert stack.enter_context(fanout.listening(BEN, "default"))[1] == CONTEXT.place


async def test_a_context_that_is_handed_out_again_after_an_error_comes_once() -> None:
    asked = list[Caller]()

    async def fail(caller: Caller) -> None:
        asked.append(caller)
        if len(asked) == 2:
            raise Unavailable("the store is away")

    fanout = fanout_of(fail)
    with fanout.listening(ADA, "default") as (one, _), fanout.listening(BEN, "default") as (other, _):
        with pytest.raises(Unavailable):
            await fanout.hand_out(CONTEXT)
        await fanout.hand_out(CONTEXT)
        assert [len(await got(each)) for each in (one, other)] == [1, 1]


async def test_a_listener_ends_when_its_token_is_gone_or_replaced(tmp_path: Path) -> None:
    async def nothing(_caller: Caller) -> None:
        pass

    file = write_tokens(tmp_path / "t.yaml", {"stays": {}, "goes": {}, "leaked": {}})
    tokens = Tokens(file)
    fanout = fanout_of(nothing, tokens)
    with ExitStack() as stack:
        callers = [cast("Caller", tokens.caller(token)) for token in ("stays", "goes", "leaked")]
        listeners = [stack.enter_context(fanout.listening(each, "default"))[0] for each in callers]
        write_tokens(file, {"stays": {}, "new": {"name": "leaked"}})
        await fanout.beat()
        for listener, expected in zip(listeners, (HEARTBEAT, REVOKED, REVOKED), strict=True):
            async with aclosing(listener.events()) as events:
                assert await anext(events) == expected


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
