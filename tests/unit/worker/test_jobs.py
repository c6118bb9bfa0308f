"""Jobs are guarded, pause after failures and give way; backoff and guard keep a loop alive and say no words."""

import asyncio
import logging

import pytest
from typing_extensions import override

from builder.domain.errors import Misconfigured, Rejected, Unavailable
from builder.worker.jobs import Backoff, Job, JobRunner, Observer, Pace, Pauses, frames, guard
from tests.commands import DEADLINE

PACE = Pace(wait=0, max_waits=3, pauses=Pauses(0, 0))


class Failures(Observer):
    def __init__(self) -> None:
        self.names: list[str] = []

    @override
    def job_failed(self, name: str) -> None:
        self.names.append(name)


async def test_a_job_goes_on_after_an_outage_and_a_bug_which_are_counted_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    failures, done = Failures(), asyncio.Event()
    troubles: list[Exception] = [Unavailable("the disk is away"), Unavailable("the disk is away"), ValueError("private words")]

    async def run_once() -> None:
        if troubles:
            raise troubles.pop(0)
        done.set()

    runner = JobRunner(busy=lambda: False, observer=failures, pace=PACE)
    task = asyncio.create_task(runner.run(Job(name="filling in", every=0, run_once=run_once)))
    async with asyncio.timeout(DEADLINE):
        await done.wait()
    task.cancel()
    await asyncio.wait({task})
    assert failures.names == ["filling in"] * 3
    assert caplog.text.count("filling in failed and is tried again: the disk is away") == 1
    assert "a bug in filling in" in caplog.text
    assert "private words" not in caplog.text


async def test_a_job_that_gives_way_waits_for_deliveries_but_not_for_ever() -> None:
    looks, done = list[bool](), asyncio.Event()

    def busy() -> bool:
        looks.append(done.is_set())
        return True

    async def run_once() -> None:
        done.set()

    runner = JobRunner(busy=busy, observer=Observer(), pace=PACE)
    task = asyncio.create_task(runner.run(Job(name="cleaning", every=60, run_once=run_once, gives_way=True)))
    async with asyncio.timeout(DEADLINE):
        await done.wait()
    task.cancel()
    await asyncio.wait({task})
    assert looks == [False] * (PACE.max_waits + 1)


log = logging.getLogger("builder.worker.loop")
PAUSES = Pauses(first=1, longest=5)


async def raising(error: Exception) -> None:
    raise error


async def test_the_guard_gives_what_the_work_gives() -> None:
    assert await guard(asyncio.sleep(0, "done"), log, "work") == "done"


@pytest.mark.parametrize("error", [Rejected("no"), Unavailable("away"), Misconfigured("wrong")])
async def test_errors_of_ours_pass_the_guard(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        await guard(raising(error), log, "work")


async def test_a_cancellation_passes_the_guard() -> None:
    task = asyncio.create_task(guard(asyncio.Event().wait(), log, "work"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def key_error() -> None:
    raise KeyError("hunter2")


def value_error(*, is_suppressed: bool) -> None:
    try:
        key_error()
    except KeyError as error:
        raise ValueError("hunter2") from None if is_suppressed else error


def test_the_frames_leave_out_a_cause_that_was_suppressed() -> None:
    with pytest.raises(ValueError, match="hunter2") as caught:
        value_error(is_suppressed=True)
    assert "which led to" not in frames(caught.value)


async def test_failures_at_once_count_as_one() -> None:
    backoff = Backoff(PAUSES)
    assert [backoff.note_failure() for _ in range(4)] == [1, 1, 1, 1]


async def test_each_failure_in_a_row_doubles_the_pause_up_to_the_longest() -> None:
    backoff = Backoff(Pauses(first=0.001, longest=0.005))
    pauses = []
    for _ in range(5):
        pauses.append(backoff.note_failure())
        await backoff.wait()
    assert pauses == [0.001, 0.002, 0.004, 0.005, 0.005]


async def test_a_success_ends_the_pause_and_the_row() -> None:
    backoff = Backoff(Pauses(first=3600, longest=7200))
    backoff.note_failure()
    backoff.note_success()
    async with asyncio.timeout(DEADLINE):
        await backoff.wait()
    assert backoff.note_failure() == 3600


async def test_what_waits_goes_on_when_the_pause_is_over() -> None:
    backoff, loop = Backoff(Pauses(first=0.02, longest=1)), asyncio.get_running_loop()
    start = loop.time()
    backoff.note_failure()
    await backoff.wait()
    assert loop.time() >= start + 0.02
