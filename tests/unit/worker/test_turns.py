"""Sessions keep the order of the stream; sessions and workspaces take turns."""

import asyncio
from functools import partial
from threading import Event

import pytest

from builder.remember.memory import in_thread
from builder.worker.turns import SessionOrder, Turns
from tests.commands import DEADLINE


class Runs:
    """What began, in order. Each piece of work ends when it is let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def end_of(self, name: str) -> asyncio.Event:
        return self._ends.setdefault(name, asyncio.Event())

    def begin(self, name: str, turn: object) -> asyncio.Task[None]:
        self._tasks[name] = asyncio.create_task(self._work(name, turn))
        return self._tasks[name]

    async def _work(self, name: str, turn: object) -> None:
        async with turn:  # type: ignore[attr-defined]
            self.begun.append(name)
            await self.end_of(name).wait()

    async def end(self, *names: str) -> None:
        for name in names:
            self.end_of(name).set()
            await self._tasks[name]
        await idle()


async def idle() -> None:
    """Until everything that can run has run."""
    for _ in range(20):
        await asyncio.sleep(0)


async def of(session: str) -> str:
    return session


async def after(event: asyncio.Event, session: str) -> str:
    await event.wait()
    return session


async def test_a_session_has_one_delivery_at_a_time_and_other_sessions_do_not_wait() -> None:
    order, runs = SessionOrder(), Runs()
    for sequence, session in enumerate(("a", "a", "b", "a"), 1):
        runs.begin(f"{session}{sequence}", order.turn("acme", session, sequence))
    await idle()
    assert runs.begun == ["a1", "b3"]
    await runs.end("a1", "a2", "b3", "a4")
    assert runs.begun == ["a1", "b3", "a2", "a4"]


async def test_an_earlier_delivery_that_comes_later_goes_first() -> None:
    order, runs = SessionOrder(), Runs()
    for sequence in (5, 9, 7, 8):
        runs.begin(f"a{sequence}", order.turn("acme", "a", sequence))
    await idle()
    await runs.end("a5", "a7", "a8", "a9")
    assert runs.begun == ["a5", "a7", "a8", "a9"]


async def test_later_messages_of_a_workspace_wait_until_the_session_of_an_answer_is_known() -> None:
    order, runs, known = SessionOrder(), Runs(), asyncio.Event()
    runs.begin("a1", order.turn("acme", "a", 1))
    runs.begin("answer2", order.turn("acme", "_", 2, after(known, "a")))
    for sequence, workspace in ((3, "acme"), (4, "other"), (5, "acme")):
        runs.begin(f"a{sequence}", order.turn(workspace, "a", sequence))
    await idle()
    await runs.end("a1")
    assert runs.begun == ["a1", "a4"]
    known.set()
    await idle()
    assert runs.begun == ["a1", "a4", "answer2"]
    await runs.end("answer2", "a3", "a5", "a4")
    assert runs.begun == ["a1", "a4", "answer2", "a3", "a5"]


async def test_an_answer_of_another_session_lets_those_that_waited_begin_in_order() -> None:
    order, runs, known = SessionOrder(), Runs(), asyncio.Event()
    runs.begin("answer2", order.turn("acme", "_", 2, after(known, "b")))
    runs.begin("a3", order.turn("acme", "a", 3))
    await idle()
    known.set()
    runs.begin("a4", order.turn("acme", "a", 4))
    await idle()
    assert sorted(runs.begun) == ["a3", "answer2"]
    await runs.end("a3", "a4", "answer2")


async def test_what_goes_alone_waits_for_all_that_is_earlier_in_its_workspace_and_keeps_no_other_session_waiting() -> None:
    order, runs, known = SessionOrder(), Runs(), asyncio.Event()
    runs.begin("answer1", order.turn("acme", "_", 1, after(known, "a")))
    runs.begin("b2", order.turn("acme", "b", 2))
    runs.begin("alone3", order.turn("acme", "_", 3, alone=True))
    for sequence, session in ((4, "b"), (5, "c"), (6, "_")):
        runs.begin(f"{session}{sequence}", order.turn("acme", session, sequence))
    known.set()
    await idle()
    assert sorted(runs.begun) == ["answer1", "b2", "c5"]
    await runs.end("b2")
    assert (runs.begun[3:], order._open) == (["b4"], {"acme": [1, 3, 4, 5, 6]})
    await runs.end("answer1")
    assert runs.begun[4:] == ["alone3"]
    await runs.end("alone3", "_6", "b4", "c5")
    assert (order._lines, order._open) == ({}, {})


async def test_nothing_stays_behind_when_waiting_or_working_deliveries_are_cancelled() -> None:
    order, runs, known = SessionOrder(), Runs(), asyncio.Event()
    tasks = [
        runs.begin("a1", order.turn("acme", "a", 1)),
        runs.begin("answer2", order.turn("acme", "_", 2, after(known, "a"))),
        runs.begin("a3", order.turn("acme", "a", 3)),
    ]
    await idle()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (order._lines, order._working, order._unresolved, order._open) == ({}, set(), {}, {})
    runs.begin("a4", order.turn("acme", "a", 4))
    await runs.end("a4")
    assert runs.begun == ["a1", "a4"]


async def test_an_answer_whose_session_cannot_be_found_keeps_nobody_waiting() -> None:
    async def fails() -> str:
        raise ValueError

    order, runs = SessionOrder(), Runs()
    with pytest.raises(ValueError):  # noqa: PT011 - the one above
        await runs.begin("answer1", order.turn("acme", "_", 1, fails()))
    runs.begin("a2", order.turn("acme", "a", 2, of("a")))
    await runs.end("a2")
    assert runs.begun == ["a2"]


async def test_a_burst_of_one_session_or_workspace_leaves_every_other_turn_to_the_others() -> None:
    turns, runs = Turns(places=1), Runs()
    jobs = [
        *((f"burst{number}", "acme", "a") for number in range(6)),
        ("b", "acme", "b"),
        ("c", "acme", "c"),
        ("d", "other", "d"),
    ]
    for name, workspace, session in jobs:
        runs.begin(name, turns.of(workspace, session))
    await idle()
    while len(runs.begun) < len(jobs):
        await runs.end(runs.begun[-1])
    await runs.end(runs.begun[-1])
    assert runs.begun == ["burst0", "burst1", "d", "b", "c", "burst2", "burst3", "burst4", "burst5"]
    assert (turns._free, turns._waiting) == (1, {})


async def test_a_turn_that_is_cancelled_passes_its_place_on() -> None:
    turns, runs = Turns(places=1), Runs()
    working, waiting = runs.begin("a", turns.of("acme", "a")), runs.begin("b", turns.of("acme", "b"))
    runs.begin("c", turns.of("acme", "c"))
    await idle()
    for task in (waiting, working):
        task.cancel()
    await idle()
    assert runs.begun == ["a", "c"]
    await runs.end("c")
    assert (turns._free, turns._waiting) == (1, {})


async def test_no_more_pieces_of_work_run_at_once_than_there_are_places() -> None:
    turns, runs = Turns(places=3), Runs()
    for number in range(7):
        runs.begin(f"s{number}", turns.of("acme", f"s{number}"))
    await idle()
    assert runs.begun == ["s0", "s1", "s2"]
    async with asyncio.timeout(DEADLINE):
        await runs.end(*(f"s{number}" for number in range(7)))


async def test_who_works_in_the_thread_gives_its_place_away_and_waits_for_the_thread_in_turn() -> None:
    """Four long works of a workspace hold no place, and another workspace's first is the next after the one in work."""
    turns, begun, go, order = Turns(1), asyncio.Event(), Event(), list[str]()
    loop = asyncio.get_running_loop()

    def long_work(name: str) -> None:
        loop.call_soon_threadsafe(begun.set)
        go.wait()
        order.append(name)

    async def in_turn(workspace: str, session: str) -> None:
        async with turns.of(workspace, session):
            await in_thread(partial(long_work, f"{workspace} {session}"))

    works = [asyncio.create_task(in_turn("loud", f"s{number}")) for number in range(4)]
    await begun.wait()
    works.append(asyncio.create_task(in_turn("quiet", "s0")))
    await idle()
    async with turns.of("quiet", "s1"):
        order.append("small")
    go.set()
    await asyncio.gather(*works)
    assert order == ["small", "loud s0", "loud s1", "quiet s0", "loud s2", "loud s3"]
