"""Before a context is built everything earlier of its session is remembered, once, whatever fails on the way."""

import asyncio
from dataclasses import replace

import pytest
from typing_extensions import override

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Unavailable
from builder.domain.recall import EVERY_SESSION, Scope
from builder.ports.store import CallOrigin
from builder.remember.decode import decode
from builder.worker.log import CALLER_SCHEMAS
from tests.conversations import message_of
from tests.factories import make_place, remembered_of
from tests.ports import MemoryPublisher, MemoryStream, make_log
from tests.stores import DurableStore

ATTEMPTS = 3
END = make_place(100)


def hello(sequence: int, session: str = "s42") -> StreamMessage:
    return message_of(sequence, "user.message.v1", {"content": f"Hello {sequence}."}, session)


def answer(sequence: int) -> StreamMessage:
    """Of a call that some session has made."""
    return message_of(sequence, "tool.response.v1", {"request_id": "r1", "tool": "bash", "output": "42"}, NO_SESSION)


def scope(*sessions: str) -> Scope:
    return Scope(workspace="acme", sessions=sessions)


class Store(DurableStore):
    """notes: how many calls were noted at once, each time."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[int] = []

    @override
    async def add_call_origins(self, origins: tuple[CallOrigin, ...]) -> None:
        self.notes.append(len(origins))
        await super().add_call_origins(origins)


class Bench:
    """Catch-up over these messages. ids: of what was remembered, in order. fails: id → what its remembering raises."""

    def __init__(self, *messages: StreamMessage) -> None:
        self.stream, self.store, self.publisher = MemoryStream(messages), Store(), MemoryPublisher()
        self.ids: list[str] = []
        self.fails: dict[str, Exception] = {}
        self.log = make_log(self.stream, self.store, self.remember, publisher=self.publisher, max_attempts=ATTEMPTS)

    async def remember(self, breadcrumb: Breadcrumb) -> None:
        if error := self.fails.get(breadcrumb.id):
            raise error
        self.ids.append(breadcrumb.id)
        await self.store.remember(remembered_of(breadcrumb))

    async def walk(self, session: str = "s42", until: Place = END) -> int:
        return await self.log.catch_up("acme", session, until)


async def test_a_walk_remembers_the_session_in_order_up_to_its_end() -> None:
    bench = Bench(hello(1), hello(2, "s43"), hello(3), hello(4), hello(5))
    assert await bench.walk(until=make_place(4)) == 2
    assert bench.ids == ["m1", "m3"]


async def test_a_second_walk_goes_on_where_the_first_one_ended() -> None:
    bench = Bench(hello(1), hello(2), hello(3))
    await bench.walk(until=make_place(3))
    assert await bench.walk(until=make_place(3)) == 0
    assert bench.stream.reads == ["s42"]
    assert await bench.walk(until=END) == 1
    assert bench.ids == ["m1", "m2", "m3"]


async def test_what_is_stored_is_not_remembered_again() -> None:
    bench = Bench(hello(1), hello(2))
    await bench.store.remember(remembered_of(decode(hello(1))))
    assert await bench.walk() == 2
    assert bench.ids == ["m2"]


async def test_walks_of_one_session_take_turns() -> None:
    bench = Bench(*(hello(n) for n in range(1, 9)))
    await asyncio.gather(*(bench.walk() for _ in range(4)))
    assert bench.ids == [f"m{n}" for n in range(1, 9)]


async def test_what_cannot_be_read_is_dead_lettered_and_passed_over() -> None:
    broken = message_of(2, "user.message.v1", {"content": "x"}, workspace="elsewhere")
    bench = Bench(hello(1), broken, hello(3))
    await bench.walk()
    assert bench.ids == ["m1", "m3"]
    assert [sequence for sequence, _ in bench.publisher.letters] == [2]


async def test_a_message_on_which_workers_crashed_is_given_up_after_so_many_attempts() -> None:
    bench = Bench(hello(1), hello(2))
    for _ in range(ATTEMPTS - 1):
        await bench.store.start_attempt(make_place(1))
    await bench.walk()
    assert bench.ids == ["m2"]
    assert [(sequence, "2 attempts" in reason) for sequence, reason in bench.publisher.letters] == [(1, True)]


async def test_a_crash_on_an_earlier_message_is_not_counted_for_those_that_wait_for_it() -> None:
    bench = Bench(hello(1))
    for place in (make_place(1), END):
        await bench.store.start_attempt(place)
    await bench.walk()
    assert await bench.store.start_attempt(END) == 1


async def test_a_store_that_is_away_costs_no_attempt_and_the_walk_begins_again() -> None:
    bench = Bench(hello(1), hello(2))
    bench.fails["m2"] = Unavailable("the disk is away")
    for _ in range(2 * ATTEMPTS):
        with pytest.raises(Unavailable):
            await bench.walk()
    bench.fails.clear()
    await bench.walk()
    assert bench.ids == ["m1", "m2"]
    assert await bench.store.start_attempt(make_place(2)) == 1


async def test_a_walk_that_is_ended_at_a_shutdown_costs_the_earlier_message_no_attempt() -> None:
    begun = asyncio.Event()

    async def endless(_: Breadcrumb) -> None:
        begun.set()
        await asyncio.Event().wait()

    bench = Bench(hello(1))
    walking = asyncio.create_task(make_log(bench.stream, bench.store, endless).catch_up("acme", "s42", END))
    await begun.wait()
    walking.cancel()
    await asyncio.wait({walking})
    assert await bench.store.start_attempt(make_place(1)) == 1


async def test_a_bug_in_an_earlier_message_uses_up_its_attempts_and_then_it_is_passed_over() -> None:
    bench = Bench(hello(1), hello(2))
    bench.fails["m1"] = RuntimeError("a bug")
    for _ in range(ATTEMPTS - 1):
        with pytest.raises(RuntimeError):
            await bench.walk()
    await bench.walk()
    assert bench.ids == ["m2"]
    assert [sequence for sequence, _ in bench.publisher.letters] == [1]


async def test_a_message_whose_own_attempt_runs_is_remembered_without_another_attempt() -> None:
    bench = Bench(hello(1))
    bench.log.in_work.add(make_place(1))
    await bench.store.start_attempt(make_place(1))
    await bench.walk()
    assert bench.ids == ["m1"]
    assert await bench.store.start_attempt(make_place(1)) == 2


async def test_what_cannot_be_read_and_is_in_work_is_left_to_its_own_attempt() -> None:
    bench = Bench(message_of(1, "user.message.v1", {"content": "x"}, workspace="elsewhere"))
    bench.log.in_work.add(make_place(1))
    await bench.walk()
    assert bench.publisher.letters == []


async def test_before_a_trigger_its_sessions_and_no_session_are_walked() -> None:
    bench = Bench(hello(1), hello(2, "s43"), hello(3, "s44"), hello(4, NO_SESSION))
    await bench.log.before(hello(9), (scope("s42", "s43"),))
    assert sorted(bench.ids) == ["m1", "m2", "m4"]


async def test_a_scope_of_every_session_is_one_walk() -> None:
    bench = Bench(hello(1), hello(2, "s43"))
    await bench.log.before(hello(9), (scope("s42"), scope(EVERY_SESSION)))
    assert bench.stream.reads == [EVERY_SESSION]
    assert bench.ids == ["m1", "m2"]


def call(sequence: int, session: str, request: str = "r1") -> StreamMessage:
    calls = [{"requestId": request, "tool": "bash", "input": {}}]
    return message_of(sequence, "agent.response.v1", {"message": "", "tool_requests": calls}, session)


async def test_in_front_of_an_answer_of_no_session_all_calls_are_noted_and_nothing_else_is_remembered() -> None:
    bench = Bench(hello(1, "s43"), call(2, "s43"), answer(3), call(4, "s44"), answer(5), hello(6))
    await bench.walk(NO_SESSION, make_place(4))
    assert bench.ids == ["m3"]
    assert [await bench.store.caller_session(decode(each)) for each in (answer(3), answer(5))] == ["s43", "s43"]
    await bench.walk(NO_SESSION)
    assert bench.ids == ["m3", "m5"]
    assert await bench.store.caller_session(decode(answer(5))) == ""


async def test_calls_are_read_once_and_not_again_where_all_is_remembered() -> None:
    bench = Bench(call(1, "s43"), answer(2), call(3, "s43", "r2"), answer(4))
    await bench.log.callers(decode(answer(2)))
    await bench.log.callers(decode(answer(2)))
    assert bench.stream.reads == list(CALLER_SCHEMAS)
    await bench.walk(EVERY_SESSION)
    await bench.log.callers(decode(answer(4)))
    assert bench.stream.reads == [*CALLER_SCHEMAS, EVERY_SESSION]


async def test_many_calls_are_noted_by_few_writes() -> None:
    bench = Bench(*(call(sequence, "s43", f"r{sequence}") for sequence in range(1, 601)), answer(601))
    await bench.log.callers(decode(answer(601)))
    assert sum(bench.store.notes) == 600
    assert len(bench.store.notes) < 6
    assert await bench.store.caller_session(decode(answer(601))) == "s43"


async def test_a_message_that_cannot_be_read_makes_no_call() -> None:
    broken = replace(call(1, "s43"), data=b"{")
    bench = Bench(broken, call(2, "s43"), answer(3))
    await bench.log.callers(decode(answer(3)))
    assert await bench.store.caller_session(decode(answer(3))) == "s43"
    assert bench.publisher.letters == []


async def test_for_what_joins_nothing_no_call_is_looked_for() -> None:
    bench = Bench(hello(1, "s43"))
    await bench.log.callers(decode(hello(9)))
    assert bench.stream.reads == []
